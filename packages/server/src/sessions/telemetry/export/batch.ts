// The next events for a destination, read from the stored segments: a bounded number, from several sessions in turn.
import type { Logger } from 'pino'
import type { TelemetryEvent } from '@berth/contracts/telemetry'
import type { Db } from '../../../platform/database/schema.ts'
import type { SealedBox } from '../../../platform/secrets/sealed-box.ts'
import { seqOf } from '../feed.ts'
import { SegmentSeal } from '../sealing.ts'
import { listSegments } from '../store.ts'
import { listWaiting, type Progress, type WaitingExport } from './delivery-store.ts'
import type { SessionEvents } from './log-records.ts'

export const MAX_EVENTS = 512
/** Of the events as JSON; one event may be larger. */
const MAX_BYTES = 512 * 1024
const MAX_SESSIONS = 32
const SEGMENTS_AT_ONCE = 2

export interface Batch {
  readonly sessions: readonly SessionEvents[]
  readonly count: number
  readonly progress: readonly Progress[]
  /** Whether more events are stored already. */
  readonly hasMore: boolean
}

export interface BatchSource {
  readonly db: Db
  readonly box: SealedBox
  readonly log: Logger
}

export async function readBatch(
  source: BatchSource,
  destination: { id: string; projectId: string },
  maxEvents = MAX_EVENTS,
): Promise<Batch> {
  const waiting = await listWaiting(source.db, destination.id, MAX_SESSIONS)
  const sessions: SessionEvents[] = []
  const progress: Progress[] = []
  let count = 0
  let bytes = 0
  let hasMore = waiting.length === MAX_SESSIONS
  for (const each of waiting) {
    if (count >= maxEvents || bytes >= MAX_BYTES) {
      hasMore = true
      break
    }
    // Other sessions that wait get their part of the batch, too.
    const share = Math.max(1, Math.floor((maxEvents - count) / (waiting.length - progress.length)))
    const piece = await readPiece(source, each, { events: share, bytes: MAX_BYTES - bytes }).catch(
      (error: unknown) => {
        source.log.warn(
          { err: error, sessionId: each.sessionId },
          'cannot read events of a session to export them',
        )
      },
    )
    if (!piece) continue
    count += piece.events.length
    bytes += piece.bytes
    hasMore ||= piece.cursor < each.upTo
    progress.push({ id: each.id, before: each.cursor, after: piece.cursor })
    if (piece.events.length > 0) {
      sessions.push({ sessionId: each.sessionId, projectId: destination.projectId, events: piece.events })
    }
  }
  return { sessions, count, progress, hasMore }
}

interface Piece {
  readonly events: readonly TelemetryEvent[]
  readonly bytes: number
  /** All events up to here are in it, or are gone. */
  readonly cursor: number
}

async function readPiece(
  { db, box }: BatchSource,
  { sessionId, cursor, upTo, sealedKey }: WaitingExport,
  max: { events: number; bytes: number },
): Promise<Piece> {
  const seal = SegmentSeal.open(box, sessionId, sealedKey)
  const segments = await listSegments(db, sessionId, { order: 'asc', from: cursor, limit: SEGMENTS_AT_ONCE })
  const events: TelemetryEvent[] = []
  let bytes = 0
  let last = cursor
  for (const { firstSeq, lastSeq, payload } of segments) {
    for (const line of await seal.open(payload, { sessionId, firstSeq })) {
      const seq = seqOf(line)
      if (seq <= cursor) continue
      if (seq > upTo) return { events, bytes, cursor: upTo }
      const isFull = events.length >= max.events || bytes + line.length > max.bytes
      // One event must fit, however large it is.
      if (isFull && events.length > 0) return { events, bytes, cursor: last }
      events.push(JSON.parse(line) as TelemetryEvent)
      bytes += line.length
      last = seq
    }
    last = Math.min(lastSeq, upTo)
  }
  // What was deleted before it was delivered is counted at its deletion.
  return { events, bytes, cursor: segments.length < SEGMENTS_AT_ONCE ? upTo : last }
}
