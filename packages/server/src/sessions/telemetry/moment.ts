// Reads a point in time from a request: RFC 3339, or a duration before now.
import { invalidInput } from '../../platform/errors/app-error.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i
const DURATION = /^(\d{1,9}(\.\d{1,9})?(ns|us|µs|ms|s|m|h|d))+$/
const PARTS = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g
const US: Readonly<Record<string, number>> = {
  ns: 0.001,
  us: 1,
  µs: 1,
  ms: 1_000,
  s: 1_000_000,
  m: 60_000_000,
  h: 3_600_000_000,
  d: 86_400_000_000,
}

/** In microseconds since 1970. */
export function readMoment(field: string, text: string, nowUs: number): number {
  if (TIME.test(text)) {
    const ms = Date.parse(text)
    if (!Number.isNaN(ms)) return ms * 1000 + microsecondsOf(text)
  } else if (DURATION.test(text)) {
    let ago = 0
    for (const [, amount, unit] of text.matchAll(PARTS)) ago += Number(amount) * US[unit!]!
    return Math.max(0, Math.round(nowUs - ago))
  }
  throw invalidInput(field, 'must be a time such as 2026-01-31T12:00:00Z, or how long ago, such as 5m')
}

/** Date has no microseconds. */
function microsecondsOf(text: string): number {
  const [, digits = ''] = /\.(\d+)/.exec(text) ?? []
  return Number(digits.padEnd(6, '0').slice(3, 6))
}
