// What deliveries read and write. Whoever writes locks the destination first, then the exports in the order of their ids.
import { sql } from 'kysely'
import type { Db } from '../../../platform/database/schema.ts'
import { destinationColumns } from './store.ts'
import type { DestinationRecord } from './types.ts'

/** Longer than any delivery, so that no two servers deliver at once. */
const LEASE_SECONDS = 45
/** After that, no event of a session that has ended can follow. */
const LAST_EVENTS_SECONDS = 60

const lastSeq = sql`least(export.until_seq, state.last_seq)`
const hasEvents = sql<boolean>`coalesce(${lastSeq} > export.cursor, false)`
/** Nothing is left, and nothing will follow. */
const isFinished = sql<boolean>`(export.cursor >= coalesce(${lastSeq}, 0) AND (
  export.until_seq IS NOT NULL OR state.ended_at IS NOT NULL
  OR browsers.ended_at < now() - make_interval(secs => ${sql.lit(LAST_EVENTS_SECONDS)})
))`
const exportsAndSessions = sql`telemetry_exports AS export
  JOIN browsers ON browsers.id = export.session_id
  LEFT JOIN telemetry_sessions AS state ON state.session_id = export.session_id`

export interface DueDestination {
  readonly id: string
  readonly projectId: string
  /** Zero when it is due now. */
  readonly dueInMs: number
}

/** Destinations with something to do that no other server has; those that wait longest are first. */
export async function listDue(db: Db, serverId: string, limit: number): Promise<DueDestination[]> {
  const { rows } = await sql<DueDestination>`
    SELECT destination.id, destination.project_id AS "projectId",
      greatest(coalesce(extract(epoch FROM destination.next_attempt_at - now()) * 1000, 0), 0)::float8 AS "dueInMs"
    FROM telemetry_destinations AS destination
    WHERE destination.deleted_at IS NULL
      AND (destination.leased_until IS NULL OR destination.leased_until < now() OR destination.server_id = ${serverId})
      AND EXISTS (SELECT FROM ${exportsAndSessions}
        WHERE export.destination_id = destination.id AND (${hasEvents} OR ${isFinished}))
    ORDER BY destination.next_attempt_at NULLS FIRST, destination.last_success_at NULLS FIRST
    LIMIT ${limit}`.execute(db)
  return rows
}

export async function hasExports(db: Db): Promise<boolean> {
  const row = await db.selectFrom('telemetry_exports').select('id').limit(1).executeTakeFirst()
  return row !== undefined
}

/** Undefined when another server has it, when it must wait, or when it is gone. */
export async function leaseDestination(
  db: Db,
  id: string,
  serverId: string,
): Promise<DestinationRecord | undefined> {
  return db
    .updateTable('telemetry_destinations')
    .set({
      server_id: serverId,
      leased_until: sql`now() + make_interval(secs => ${sql.lit(LEASE_SECONDS)})`,
    })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`(server_id = ${serverId} OR leased_until IS NULL OR leased_until < now())`)
    .where(sql<boolean>`(next_attempt_at IS NULL OR next_attempt_at <= now())`)
    .returning(destinationColumns)
    .executeTakeFirst()
}

/** For a server that stops. */
export async function releaseDestinations(db: Db, serverId: string): Promise<void> {
  await db
    .updateTable('telemetry_destinations')
    .set({ leased_until: null })
    .where('server_id', '=', serverId)
    .where('leased_until', 'is not', null)
    .execute()
}

export interface WaitingExport {
  readonly id: string
  readonly sessionId: string
  readonly cursor: number
  /** The last number to deliver now. */
  readonly upTo: number
  readonly sealedKey: Buffer
}

/** Sessions with events for the destination. Those that had no turn for longest are first. */
export async function listWaiting(db: Db, destinationId: string, limit: number): Promise<WaitingExport[]> {
  const { rows } = await sql<Omit<WaitingExport, 'cursor' | 'upTo'> & { cursor: string; upTo: string }>`
    SELECT export.id, export.session_id AS "sessionId", export.cursor, ${lastSeq} AS "upTo",
      state.sealed_key AS "sealedKey"
    FROM ${exportsAndSessions} WHERE export.destination_id = ${destinationId} AND ${hasEvents}
    ORDER BY export.tried_at, export.id LIMIT ${limit}`.execute(db)
  return rows.map((row) => ({ ...row, cursor: Number(row.cursor), upTo: Number(row.upTo) }))
}

export interface Progress {
  readonly id: string
  readonly before: number
  readonly after: number
}

export interface Success {
  readonly delivered: number
  readonly rejected: number
}

const advanced = (progress: readonly Progress[]) => sql`
  WITH moved AS (
    SELECT * FROM unnest(${progress.map(({ id }) => id)}::bigint[], ${progress.map(({ before }) => before)}::bigint[],
      ${progress.map(({ after }) => after)}::bigint[]) AS moved (id, before, after)
  ), locked AS (
    SELECT id FROM telemetry_exports WHERE id IN (SELECT id FROM moved) ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE telemetry_exports SET cursor = moved.after, tried_at = now()
  FROM locked JOIN moved USING (id)
  WHERE telemetry_exports.id = moved.id AND telemetry_exports.cursor = moved.before`

/** In this transaction the destination is locked; nothing is kept of one that was deleted meanwhile. */
export async function keepSuccess(
  tx: Db,
  destinationId: string,
  { delivered, rejected }: Success,
  progress: readonly Progress[],
): Promise<void> {
  await tx
    .updateTable('telemetry_destinations')
    .set({
      delivered_events: sql`delivered_events + ${delivered}`,
      rejected_events: sql`rejected_events + ${rejected}`,
      last_success_at: sql`now()`,
      consecutive_failures: 0,
      next_attempt_at: null,
    })
    .where('id', '=', destinationId)
    .execute()
  await advanced(progress).execute(tx)
}

export interface Failure {
  readonly reason: string
  readonly retryInMs: number
  /** Events that are given up. */
  readonly rejected: number
}

export async function keepFailure(
  tx: Db,
  destination: Pick<DestinationRecord, 'id' | 'version'>,
  { reason, retryInMs, rejected }: Failure,
  progress: readonly Progress[],
): Promise<void> {
  // A change of the destination meanwhile may have removed the cause, so it is tried again at once.
  const isSame = sql<boolean>`version = ${destination.version}`
  await tx
    .updateTable('telemetry_destinations')
    .set({
      rejected_events: sql`rejected_events + ${rejected}`,
      last_error: reason,
      last_error_at: sql`now()`,
      consecutive_failures: sql`CASE WHEN ${isSame} THEN consecutive_failures + 1 ELSE 0 END`,
      next_attempt_at: sql`CASE WHEN ${isSame} THEN now() + make_interval(secs => ${retryInMs / 1000}) END`,
    })
    .where('id', '=', destination.id)
    .execute()
  await advanced(progress).execute(tx)
}

/** Moves past numbers without events, and deletes exports that are finished. */
export async function settleExports(
  tx: Db,
  destinationId: string,
  progress: readonly Progress[],
): Promise<void> {
  await tx
    .selectFrom('telemetry_destinations')
    .select('id')
    .where('id', '=', destinationId)
    .forNoKeyUpdate()
    .execute()
  if (progress.length > 0) await advanced(progress).execute(tx)
  await sql`
    WITH gone AS (
      DELETE FROM telemetry_exports WHERE id IN (
        SELECT export.id FROM ${exportsAndSessions}
        WHERE export.destination_id = ${destinationId} AND ${isFinished}
      ) RETURNING expired
    ), counted AS (SELECT coalesce(sum(expired), 0) AS expired FROM gone)
    UPDATE telemetry_destinations SET expired_events = expired_events + counted.expired
    FROM counted WHERE id = ${destinationId} AND counted.expired > 0`.execute(tx)
}
