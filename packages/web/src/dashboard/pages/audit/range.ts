// The time that the audit log is searched in: the last so much, or from and to. It may be 30 days.
const HOUR_MS = 3_600_000

export const ranges = {
  '1h': { text: 'Last hour', ms: HOUR_MS },
  '24h': { text: 'Last 24 hours', ms: 24 * HOUR_MS },
  '7d': { text: 'Last 7 days', ms: 7 * 24 * HOUR_MS },
  '30d': { text: 'Last 30 days', ms: 30 * 24 * HOUR_MS },
} as const
export type RangeName = keyof typeof ranges | 'custom'

export const isRange = (name: string): name is RangeName => name === 'custom' || name in ranges

export interface Filters {
  readonly range: RangeName
  /** With `custom`, as the fields of a browser have them: 2026-01-31T12:00, in local time. */
  readonly from: string
  readonly to: string
  readonly search: string
  readonly method: string
  readonly hidesReads: boolean
}

/** What the API is asked, as of now. */
export function queryOf(filters: Filters): URLSearchParams {
  const { range, from, to, search, method, hidesReads } = filters
  const now = Date.now()
  const [start, end] =
    range === 'custom'
      ? [timeOf(from) ?? now - ranges['24h'].ms, timeOf(to) ?? now + 1_000]
      : // The end is exclusive, and the clock of the server may be a little ahead.
        [now - ranges[range].ms + 60_000, now + 60_000]
  return new URLSearchParams({
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    ...(search !== '' && { search }),
    ...(method !== '' && { method }),
    ...(method === '' && hidesReads && { exclude_method: 'GET' }),
  })
}

function timeOf(local: string): number | undefined {
  const time = Date.parse(local)
  return Number.isNaN(time) ? undefined : time
}
