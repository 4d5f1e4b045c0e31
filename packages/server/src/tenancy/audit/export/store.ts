import { sql } from 'kysely'
import { newId } from '@berth/kit/ids'
import type { Db } from '../../../platform/database/schema.ts'
import type { AuditRecord } from '../types.ts'
import {
  destinationColumns,
  type DestinationConfig,
  type DestinationRecord,
  type ExportLease,
  type ExportWindow,
  type RecordPosition,
} from './types.ts'

export type ConfigChange = Partial<Omit<DestinationConfig, 'id' | 'external_id'>>

export const newDestinationId = () => newId()

export async function insertDestination(tx: Db, values: DestinationConfig): Promise<DestinationRecord> {
  return tx
    .insertInto('audit_export_destinations')
    .values(values)
    .returning(destinationColumns)
    .executeTakeFirstOrThrow()
}

/** Locks the organisation until the transaction ends, so that two creates do not take the last place. */
export async function countDestinations(tx: Db): Promise<number> {
  await tx.selectFrom('organization').select('id').forNoKeyUpdate().execute()
  const { count } = await tx
    .selectFrom('audit_export_destinations')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

export async function listDestinations(
  db: Db,
  { limit, offset }: { limit: number; offset: number },
): Promise<DestinationRecord[]> {
  return db
    .selectFrom('audit_export_destinations')
    .select(destinationColumns)
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
}

/** Also one that was deleted. */
export async function findDestination(db: Db, id: string): Promise<DestinationRecord | undefined> {
  return db
    .selectFrom('audit_export_destinations')
    .select(destinationColumns)
    .where('id', '=', id)
    .executeTakeFirst()
}

export interface DestinationChange {
  readonly id: string
  /** Nothing changes unless the row still has this revision. */
  readonly revision: number
  readonly config: ConfigChange
  /** Undefined when it stays. */
  readonly status: 'active' | 'paused' | undefined
  /** Whether the new configuration has passed a test. */
  readonly isTested: boolean
}

/** Undefined when the row was changed meanwhile. */
export async function updateDestination(
  tx: Db,
  { id, revision, config, status, isTested }: DestinationChange,
): Promise<DestinationRecord | undefined> {
  const isConfigChanged = Object.keys(config).length > 0
  return tx
    .updateTable('audit_export_destinations')
    .set({
      ...config,
      ...(status === 'active' && {
        pending: sql<string>`pending + tstzmultirange(tstzrange(now(), NULL))`,
      }),
      ...(status === 'paused' && {
        pending: sql<string>`pending * tstzmultirange(tstzrange(NULL, now()))`,
      }),
      ...(status && { status }),
      revision: revision + 1,
      ...(isTested
        ? { tested_revision: revision + 1 }
        : !isConfigChanged && {
            tested_revision: sql<number | null>`CASE WHEN tested_revision = revision THEN revision + 1 END`,
          }),
      // Whoever changes something does not want to wait for the next attempt.
      due_at: sql`now()`,
      next_attempt_at: null,
      updated_at: sql`now()`,
    })
    .where('id', '=', id)
    .where('revision', '=', revision)
    .where('deleted_at', 'is', null)
    .returning(destinationColumns)
    .executeTakeFirst()
}

/** How many times it was active and has not been exported yet. */
export async function countPending(tx: Db, id: string): Promise<number> {
  const row = await tx
    .selectFrom('audit_export_destinations')
    .select(sql<number>`(SELECT count(*)::int FROM unnest(pending))`.as('count'))
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.count ?? 0
}

/** The test of another configuration says nothing. */
export async function keepTestPassed(tx: Db, id: string, revision: number): Promise<void> {
  await tx
    .updateTable('audit_export_destinations')
    .set({ tested_revision: revision })
    .where('id', '=', id)
    .where('revision', '=', revision)
    .execute()
}

export async function markDestinationDeleted(tx: Db, id: string): Promise<void> {
  await tx
    .updateTable('audit_export_destinations')
    .set({
      deleted_at: sql`now()`,
      status: 'paused',
      sealed_secret: null,
      pending: '{}',
      revision: sql`revision + 1`,
      next_attempt_at: null,
    })
    .where('id', '=', id)
    .execute()
}

// The export itself

const isFree = sql<boolean>`(lease_until IS NULL OR lease_until < now())`
const inSeconds = (seconds: number) => sql<string>`now() + make_interval(secs => ${seconds})`

/** Takes the lease of a destination that is due. */
export async function claimDue(
  db: Db,
  { serverId, leaseSeconds }: { serverId: string; leaseSeconds: number },
): Promise<ExportLease | undefined> {
  const leaseId = newId()
  const destination = await db
    .updateTable('audit_export_destinations')
    .set({ lease_id: leaseId, lease_server: serverId, lease_until: inSeconds(leaseSeconds) })
    .where('id', '=', (where) =>
      where
        .selectFrom('audit_export_destinations')
        .select('id')
        .where('status', '=', 'active')
        .where('deleted_at', 'is', null)
        .where(sql<boolean>`due_at <= now()`)
        .where(isFree)
        .orderBy('due_at')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returning(destinationColumns)
    .executeTakeFirst()
  return destination && { leaseId, destination }
}

/** Seconds until a destination is due and free. Null when none is active. */
export async function nextDueInSeconds(db: Db): Promise<number | null> {
  const { rows } = await sql<{ seconds: number | null }>`
    SELECT extract(epoch FROM min(greatest(due_at, lease_until)) - now())::float8 AS seconds
    FROM audit_export_destinations WHERE status = 'active' AND deleted_at IS NULL`.execute(db)
  return rows[0]?.seconds ?? null
}

/** After a restart, nobody else has to wait for leases of the run before. */
export async function dropLeasesOf(db: Db, serverId: string): Promise<void> {
  await db
    .updateTable('audit_export_destinations')
    .set({ lease_id: null, lease_server: null, lease_until: null })
    .where('lease_server', '=', serverId)
    .execute()
}

/** False when somebody else has it. */
export async function renewLease(db: Db, { leaseId }: ExportLease, leaseSeconds: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('audit_export_destinations')
    .set({ lease_until: inSeconds(leaseSeconds) })
    .where('lease_id', '=', leaseId)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

const firstPending = sql`(SELECT range FROM unnest(pending) AS range LIMIT 1)`
const EPOCH = sql`timestamptz '2000-01-01 00:00:00+00'`

/**
 * The next window, once it is over, has been held, and no transaction can add a record to it any more: one that began
 * before its end may still write records of that time. Undefined until then; the destination is due again when the window
 * can be ready.
 */
export async function openWindow(
  db: Db,
  { leaseId, destination }: ExportLease,
  { holdSeconds, windowSeconds }: { holdSeconds: number; windowSeconds: number },
): Promise<ExportWindow | undefined> {
  const { rows } = await sql<{
    start: string
    end: string
    chunk: number
    afterAt: string | null
    afterId: string | null
    isReady: boolean
  }>`
    WITH next AS (
      SELECT id, chunk, after_at, after_id, lower(pending) AS window_start,
        coalesce(window_end, least(
          date_bin(make_interval(secs => ${windowSeconds}), lower(pending), ${EPOCH})
            + make_interval(secs => ${windowSeconds}),
          upper(${firstPending})
        )) AS window_end
      FROM audit_export_destinations
      WHERE id = ${destination.id} AND lease_id = ${leaseId} AND revision = ${destination.revision}
        AND status = 'active' AND NOT isempty(pending)
    ), judged AS (
      SELECT next.*, window_end + make_interval(secs => ${holdSeconds}) AS ready_at,
        window_end + make_interval(secs => ${holdSeconds}) <= now() AND NOT EXISTS (
          SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'berth'
            AND pid <> pg_backend_pid() AND xact_start < window_end
        ) AS is_ready
      FROM next
    )
    UPDATE audit_export_destinations AS destination
    SET window_end = CASE WHEN is_ready THEN judged.window_end ELSE destination.window_end END,
      due_at = CASE WHEN is_ready THEN destination.due_at
        ELSE greatest(ready_at, now() + interval '1 second') END
    FROM judged WHERE destination.id = judged.id
    RETURNING judged.window_start::text AS start, judged.window_end::text AS "end", judged.chunk,
      judged.after_at::text AS "afterAt", judged.after_id::text AS "afterId", is_ready AS "isReady"`.execute(
    db,
  )
  const [row] = rows
  if (!row?.isReady) return undefined
  const { start, end, chunk } = row
  return { start, end, chunk, after: { recordedAt: row.afterAt ?? start, id: row.afterId ?? '0' } }
}

export type ExportedRecord = AuditRecord & { readonly recorded_at_exact: string }

export async function readWindow(
  db: Db,
  { end }: ExportWindow,
  { after, limit, signal }: { after: RecordPosition; limit: number; signal: AbortSignal },
): Promise<ExportedRecord[]> {
  return db
    .selectFrom('audit_logs')
    .selectAll()
    .select(sql<string>`recorded_at::text`.as('recorded_at_exact'))
    .where(
      sql<boolean>`(recorded_at, id) > (${after.recordedAt}::timestamptz, ${after.id}::bigint)
        AND recorded_at < ${end}::timestamptz`,
    )
    .orderBy('recorded_at')
    .orderBy('id')
    .limit(limit)
    .execute({ signal })
}

export interface Progress {
  /** Whether an object was written. */
  readonly isWritten: boolean
  /** The last record in it; undefined when the window is over. */
  readonly last: RecordPosition | undefined
  readonly cursor: string
}

/** False when the destination was changed, paused or deleted meanwhile, or somebody else has the lease. */
export async function keepProgress(
  db: Db,
  { leaseId, destination }: ExportLease,
  { isWritten, last, cursor }: Progress,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('audit_export_destinations')
    .set({
      ...(last
        ? {
            chunk: sql<number>`chunk + 1`,
            after_at: sql<string>`${last.recordedAt}::timestamptz`,
            after_id: last.id,
          }
        : {
            chunk: 0,
            after_at: null,
            after_id: null,
            pending: sql<string>`pending - tstzmultirange(tstzrange(NULL, window_end))`,
            window_end: null,
          }),
      ...(isWritten && { last_success_at: sql<string>`now()` }),
      last_exported_cursor: cursor,
      consecutive_failures: 0,
      next_attempt_at: null,
    })
    .where('id', '=', destination.id)
    .where('lease_id', '=', leaseId)
    .where('revision', '=', destination.revision)
    .where('status', '=', 'active')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The next attempt comes later each time. Does nothing when somebody else has the lease. */
export async function keepFailure(
  db: Db,
  { leaseId, destination }: ExportLease,
  { message, firstSeconds, maxSeconds }: { message: string; firstSeconds: number; maxSeconds: number },
): Promise<void> {
  const wait = sql<string>`now() + make_interval(
    secs => least(${maxSeconds}, ${firstSeconds} * power(2, least(consecutive_failures, 20))))`
  await db
    .updateTable('audit_export_destinations')
    .set({
      consecutive_failures: sql<number>`consecutive_failures + 1`,
      last_error: message,
      last_error_at: sql<string>`now()`,
      next_attempt_at: wait,
      due_at: wait,
    })
    .where('lease_id', '=', leaseId)
    .where('revision', '=', destination.revision)
    .where('status', '=', 'active')
    .execute()
}

export async function releaseLease(db: Db, { leaseId }: ExportLease): Promise<void> {
  await db
    .updateTable('audit_export_destinations')
    .set({ lease_id: null, lease_server: null, lease_until: null })
    .where('lease_id', '=', leaseId)
    .execute()
}
