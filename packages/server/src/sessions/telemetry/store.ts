import { sql } from 'kysely'
import type { EventCategory } from '@berth/contracts/telemetry-events'
import type { Db } from '../../platform/database/schema.ts'
import { bitOf } from './event.ts'

export interface SessionState {
  readonly sealedKey: Buffer
  readonly lastSeq: number
  readonly agentPosition: number
  readonly storedBytes: number
  readonly hasEnded: boolean
}

export async function findState(db: Db, sessionId: string): Promise<SessionState | undefined> {
  const row = await db
    .selectFrom('telemetry_sessions')
    .select(['sealed_key', 'last_seq', 'agent_position', 'stored_bytes', 'ended_at'])
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
  if (!row) return undefined
  return {
    sealedKey: row.sealed_key,
    lastSeq: Number(row.last_seq),
    agentPosition: Number(row.agent_position),
    storedBytes: Number(row.stored_bytes),
    hasEnded: row.ended_at !== null,
  }
}

export async function insertState(db: Db, sessionId: string, sealedKey: Buffer): Promise<void> {
  await db
    .insertInto('telemetry_sessions')
    .values({ session_id: sessionId, sealed_key: sealedKey })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function markEnded(db: Db, sessionId: string): Promise<void> {
  await db
    .updateTable('telemetry_sessions')
    .set({ ended_at: sql`now()` })
    .where('session_id', '=', sessionId)
    .execute()
}

export interface NewSegment {
  readonly sessionId: string
  /** The last number before this segment; the segment is stored only if this still holds. */
  readonly after: number
  readonly firstSeq: number
  readonly lastSeq: number
  readonly firstTs: number
  readonly lastTs: number
  readonly categories: number
  readonly agentPosition: number
  readonly payload: Buffer
}

/** False when the last number has changed, most likely because this segment is already stored. */
export async function appendSegment(tx: Db, segment: NewSegment): Promise<boolean> {
  const { sessionId, after, firstSeq, lastSeq, firstTs, lastTs, categories, agentPosition, payload } = segment
  const { rows } = await sql`
    WITH state AS (
      UPDATE telemetry_sessions
      SET last_seq = ${lastSeq}, agent_position = ${agentPosition}, stored_bytes = stored_bytes + ${payload.length}
      WHERE session_id = ${sessionId} AND last_seq = ${after}
      RETURNING session_id
    )
    INSERT INTO telemetry_segments (session_id, first_seq, last_seq, first_ts, last_ts, categories, payload)
    SELECT session_id, ${firstSeq}::bigint, ${lastSeq}::bigint, ${firstTs}::bigint, ${lastTs}::bigint,
      ${categories}::integer, ${payload}::bytea
    FROM state RETURNING first_seq`.execute(tx)
  return rows.length > 0
}

/** Counts what is deleted before it was delivered to where the session exports. `gone` has the deleted segments. */
const countExpired = sql`waiting AS (
  SELECT id, session_id, cursor, until_seq FROM telemetry_exports
  WHERE session_id IN (SELECT session_id FROM gone) ORDER BY id FOR NO KEY UPDATE
), expired AS (
  UPDATE telemetry_exports SET expired = telemetry_exports.expired + lost.events
  FROM (
    SELECT waiting.id, sum(least(gone.last_seq, waiting.until_seq) - greatest(gone.first_seq - 1, waiting.cursor)) AS events
    FROM waiting JOIN gone USING (session_id)
    WHERE gone.last_seq > waiting.cursor AND gone.first_seq <= coalesce(waiting.until_seq, gone.first_seq)
    GROUP BY waiting.id
  ) AS lost WHERE telemetry_exports.id = lost.id
)`

/** Removes the oldest segments until at most `maxBytes` are left; returns how many are left. */
export async function dropOldest(db: Db, sessionId: string, maxBytes: number): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`
    WITH measured AS (
      SELECT first_seq, sum(octet_length(payload)) OVER (ORDER BY first_seq DESC) AS kept
      FROM telemetry_segments WHERE session_id = ${sessionId}
    ), gone AS (
      DELETE FROM telemetry_segments USING measured
      WHERE session_id = ${sessionId} AND telemetry_segments.first_seq = measured.first_seq
        AND measured.kept > ${maxBytes}
      RETURNING session_id, telemetry_segments.first_seq, last_seq, octet_length(payload) AS bytes
    ), ${countExpired}, counted AS (SELECT coalesce(sum(bytes), 0) AS bytes FROM gone)
    UPDATE telemetry_sessions
    SET stored_bytes = greatest(stored_bytes - counted.bytes, 0)
    FROM counted WHERE session_id = ${sessionId}
    RETURNING stored_bytes AS bytes`.execute(db)
  return Number(rows[0]?.bytes ?? 0)
}

export const telemetryBytes = sql`
  SELECT sum(stored_bytes) FROM telemetry_sessions WHERE telemetry_sessions.project_id = projects.id`

/** Sessions of a project with events, the oldest first. */
export async function listOldest(
  db: Db,
  projectId: string,
  limit: number,
): Promise<{ sessionId: string; bytes: number }[]> {
  const rows = await db
    .selectFrom('telemetry_sessions')
    .select(['session_id', 'stored_bytes'])
    .where('project_id', '=', projectId)
    .where('stored_bytes', '>', '0')
    .orderBy('created_at')
    .orderBy('session_id')
    .limit(limit)
    .execute()
  return rows.map(({ session_id, stored_bytes }) => ({ sessionId: session_id, bytes: Number(stored_bytes) }))
}

export interface StoredSegment {
  readonly firstSeq: number
  readonly lastSeq: number
  readonly payload: Buffer
}

export interface SegmentQuery {
  readonly order: 'asc' | 'desc'
  /** Exclusive, at the side where reading starts. */
  readonly from?: number
  readonly sinceTs?: number
  readonly untilTs?: number
  readonly categories?: readonly EventCategory[]
  readonly limit: number
}

export async function listSegments(db: Db, sessionId: string, query: SegmentQuery): Promise<StoredSegment[]> {
  const { order, from, sinceTs, untilTs, categories, limit } = query
  let select = db
    .selectFrom('telemetry_segments')
    .select(['first_seq', 'last_seq', 'payload'])
    .where('session_id', '=', sessionId)
    .orderBy('first_seq', order)
    .limit(limit)
  if (from !== undefined) {
    select =
      order === 'asc'
        ? select.where('last_seq', '>', String(from))
        : select.where('first_seq', '<', String(from))
  }
  if (sinceTs !== undefined) select = select.where('last_ts', '>=', String(sinceTs))
  if (untilTs !== undefined) select = select.where('first_ts', '<', String(untilTs))
  if (categories) {
    const mask = categories.reduce((bits, category) => bits | bitOf(category), 0)
    select = select.where(sql<boolean>`categories & ${mask} <> 0`)
  }
  const rows = await select.execute()
  return rows.map((row) => ({
    firstSeq: Number(row.first_seq),
    lastSeq: Number(row.last_seq),
    payload: row.payload,
  }))
}

/** For the hourly clean-up. */
export async function deleteSegmentsBefore(tx: Db, end: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    WITH gone AS (
      DELETE FROM telemetry_segments WHERE ctid IN (
        SELECT ctid FROM telemetry_segments WHERE created_at < ${end} ORDER BY created_at LIMIT ${limit}
      ) RETURNING session_id, first_seq, last_seq, octet_length(payload) AS bytes
    ), ${countExpired}, freed AS (SELECT session_id, sum(bytes) AS bytes FROM gone GROUP BY session_id), locked AS (
      SELECT session_id FROM telemetry_sessions WHERE session_id IN (SELECT session_id FROM freed)
      ORDER BY session_id FOR NO KEY UPDATE
    ), told AS (
      UPDATE telemetry_sessions
      SET stored_bytes = greatest(stored_bytes - freed.bytes, 0)
      FROM locked JOIN freed USING (session_id) WHERE telemetry_sessions.session_id = locked.session_id
    )
    SELECT count(*)::int AS count FROM gone`.execute(tx)
  return rows[0]!.count
}

/** Sessions that have ended and have no events left count no longer, so that the sum of a project stays short. */
export async function forgetEmptySessions(tx: Db): Promise<void> {
  await sql`
    UPDATE telemetry_sessions SET project_id = NULL, stored_bytes = 0
    FROM browsers
    WHERE telemetry_sessions.project_id IS NOT NULL AND browsers.id = session_id
      AND browsers.ended_at < now() - interval '1 hour'
      AND NOT EXISTS (SELECT FROM telemetry_segments WHERE telemetry_segments.session_id = browsers.id)`.execute(
    tx,
  )
}

export async function putInInbox(
  tx: Db,
  events: readonly { sessionId: string; event: object }[],
): Promise<void> {
  await tx
    .insertInto('telemetry_inbox')
    .values(events.map(({ sessionId, event }) => ({ session_id: sessionId, event: JSON.stringify(event) })))
    .execute()
}

export async function takeFromInbox(tx: Db, sessionId: string): Promise<unknown[]> {
  const { rows } = await sql<{ id: string; event: unknown }>`
    DELETE FROM telemetry_inbox WHERE session_id = ${sessionId} RETURNING id, event`.execute(tx)
  return rows.toSorted((one, other) => Number(one.id) - Number(other.id)).map(({ event }) => event)
}

/** Deletes events that no server collected because the session ended first. */
export async function deleteOldInbox(tx: Db): Promise<void> {
  await sql`DELETE FROM telemetry_inbox WHERE created_at < now() - interval '1 day'`.execute(tx)
}
