// Reads stored events page by page. Clients pass back the offset of the next page: ascending, the number of its first
// event; descending, one more than that.
import type { EventCategory } from '@berth/contracts/telemetry-events'
import type { TelemetryEvent } from '@berth/contracts/telemetry'
import type { Db } from '../../platform/database/schema.ts'
import { invalidInput } from '../../platform/errors/app-error.ts'
import type { OffsetPage } from '../../http/call.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { nowUs } from './event.ts'
import { seqOf } from './feed.ts'
import { readMoment } from './moment.ts'
import { SegmentSeal } from './sealing.ts'
import * as store from './store.ts'

const DEFAULT_SINCE = '5m'
const SEGMENTS_AT_ONCE = 16
/** The database reads on while these are used, but not for a reader of one page. */
const READ_ON_AFTER = 8
/** After reading this many events, a page ends even if it has few matches, and another page follows. */
const MAX_LOOKED_AT = 5_000

export interface HistoryQuery {
  readonly limit?: number
  readonly offset?: number
  readonly since?: string
  readonly until?: string
  readonly category?: readonly EventCategory[]
  readonly order?: 'asc' | 'desc'
}

export interface Archive {
  readonly db: Db
  readonly box: SealedBox
}

export async function readPage(
  archive: Archive,
  sessionId: string,
  query: HistoryQuery,
): Promise<OffsetPage<TelemetryEvent[]>> {
  const { limit = 20, order = 'asc', category: categories } = query
  const window = windowOf(query)
  const items: TelemetryEvent[] = []
  let looked = 0
  for await (const { seq, line } of readLines(archive, sessionId, { ...window, order, categories })) {
    const item = JSON.parse(line) as TelemetryEvent
    const isWanted =
      item.event.ts >= (window.sinceTs ?? 0) &&
      item.event.ts < (window.untilTs ?? Infinity) &&
      (!categories || categories.includes(item.event.category!))
    // The next page starts with the first event that does not fit.
    const isFull = items.length === limit || looked === MAX_LOOKED_AT
    if (isFull && (isWanted || looked === MAX_LOOKED_AT)) {
      return { items, hasMore: true, nextOffset: order === 'asc' ? seq : seq + 1 }
    }
    looked++
    if (isWanted) items.push(item)
  }
  return { items, hasMore: false }
}

function windowOf({ offset, since, until, order = 'asc' }: HistoryQuery) {
  if (order === 'desc' && since !== undefined) {
    throw invalidInput('since', 'cannot be combined with order=desc, which starts with the newest event')
  }
  const now = nowUs()
  const untilTs = until === undefined ? undefined : readMoment('until', until, now)
  const sinceTs = since === undefined ? undefined : readMoment('since', since, now)
  const hasOffset = offset !== undefined && offset > 0
  return {
    ...(hasOffset && { from: order === 'asc' ? offset - 1 : offset }),
    ...(order === 'asc' && !hasOffset && { sinceTs: sinceTs ?? readMoment('since', DEFAULT_SINCE, now) }),
    ...(untilTs !== undefined && { untilTs }),
  }
}

export interface Line {
  readonly seq: number
  readonly line: string
}

export interface LinesQuery {
  readonly order: 'asc' | 'desc'
  readonly from?: number
  readonly sinceTs?: number
  readonly untilTs?: number
  readonly categories?: readonly EventCategory[] | undefined
}

/** All lines of the segments that may contain matches; the caller filters the lines. */
export async function* readLines(
  archive: Archive,
  sessionId: string,
  query: LinesQuery,
): AsyncGenerator<Line> {
  for await (const lines of readSegments(archive, sessionId, query)) yield* lines
}

/** The same, segment by segment: for those who read many. */
export async function* readSegments(
  { db, box }: Archive,
  sessionId: string,
  { categories, ...query }: LinesQuery,
): AsyncGenerator<Line[]> {
  const state = await store.findState(db, sessionId)
  if (!state) return
  const seal = SegmentSeal.open(box, sessionId, state.sealedKey)
  const { order } = query
  const list = (from: number | undefined) =>
    store.listSegments(db, sessionId, {
      ...query,
      ...(categories && { categories }),
      ...(from !== undefined && { from }),
      limit: SEGMENTS_AT_ONCE,
    })
  let from = query.from
  let next = list(from)
  for (;;) {
    const segments = await next
    const last = segments.at(-1)
    const isLast = segments.length < SEGMENTS_AT_ONCE
    for (const [index, { firstSeq, payload }] of segments.entries()) {
      if (index === READ_ON_AFTER && !isLast) {
        next = list(order === 'asc' ? last!.lastSeq : last!.firstSeq)
        // A reader that stops early does not want to hear of a failure.
        next.catch(() => {})
      }
      const lines = (await seal.open(payload, { sessionId, firstSeq })).map((line) => ({
        seq: seqOf(line),
        line,
      }))
      const ordered = order === 'asc' ? lines : lines.toReversed()
      yield ordered.filter(({ seq }) => from === undefined || (order === 'asc' ? seq > from : seq < from))
    }
    if (!last || isLast) return
    from = order === 'asc' ? last.lastSeq : last.firstSeq
  }
}
