import { sql } from 'kysely'
import { MAX_LISTED_LENGTH, type InvocationStatus } from '@berth/contracts/invocations'
import { containing } from '../../platform/database/like.ts'
import { transitionAll } from '../../sessions/browsers/state.ts'
import type { EndedBrowser } from '../../sessions/browsers/types.ts'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { InvocationRecord } from './types.ts'

const columns = [
  'id',
  'project_id',
  'deployment_id',
  'app_name',
  'version',
  'action_name',
  'status',
  'status_reason',
  'timeout_seconds',
  'payload',
  'output',
  'server_id',
  'instance_id',
  'last_record',
  'started_ns',
  'queued_at',
  'created_at',
  'finished_at',
] as const

export interface Occupancy {
  readonly ofOrganization: number
  readonly ofProject: number
  /** Null when the project has no limit of its own. */
  readonly projectCap: number | null
}

/** Counts invocations under a lock, so that two callers cannot both take the last place. */
export async function lockOccupancy(tx: Db, projectId: string): Promise<Occupancy> {
  await tx.selectFrom('organization').select('id').forNoKeyUpdate().execute()
  const { rows } = await sql<Occupancy>`
    SELECT
      (SELECT count(*)::int FROM invocations WHERE finished_at IS NULL) AS "ofOrganization",
      (SELECT count(*)::int FROM invocations WHERE finished_at IS NULL AND project_id = ${projectId}) AS "ofProject",
      (SELECT max_concurrent_invocations FROM projects WHERE id = ${projectId}) AS "projectCap"`.execute(tx)
  return rows[0]!
}

export interface InvocationRow {
  readonly id: string
  readonly projectId: string
  readonly deploymentId: string
  readonly appName: string
  readonly version: string
  readonly actionName: string
  readonly timeoutSeconds: number
  readonly payload: Buffer | null
  readonly startedNs: bigint
}

export async function insertInvocation(tx: Db, row: InvocationRow): Promise<InvocationRecord> {
  return tx
    .insertInto('invocations')
    .values({
      id: row.id,
      project_id: row.projectId,
      deployment_id: row.deploymentId,
      app_name: row.appName,
      version: row.version,
      action_name: row.actionName,
      timeout_seconds: row.timeoutSeconds,
      payload: row.payload,
      started_ns: String(row.startedNs),
      // Not the transaction's start time: the transaction waited for the lock, and the lock defines the order.
      created_at: sql<string>`clock_timestamp()`,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** A null project means all projects. */
export async function findInvocation(
  db: Db,
  projectId: string | null,
  id: string,
): Promise<InvocationRecord | undefined> {
  let query = db.selectFrom('invocations').select(columns).where('id', '=', id)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  return query.executeTakeFirst()
}

/** Locks the invocation against its end; false when it has ended. */
export async function holdLive(tx: Db, projectId: string, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('invocations')
    .select('id')
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('finished_at', 'is', null)
    .forShare()
    .executeTakeFirst()
  return row !== undefined
}

export interface InvocationFilters {
  readonly appName?: string
  readonly version?: string
  readonly actionName?: string
  readonly deploymentId?: string
  readonly status?: InvocationStatus
  readonly sinceNs?: bigint
  readonly query?: string
  readonly limit: number
  readonly offset: number
}

export async function listInvocations(
  db: Db,
  projectId: string | null,
  filters: InvocationFilters,
): Promise<InvocationRecord[]> {
  let query = db
    .selectFrom('invocations')
    .select(columns.filter((column) => column !== 'payload' && column !== 'output'))
    .select([shortOnly('payload').as('payload'), shortOnly('output').as('output')])
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  if (filters.appName !== undefined) query = query.where('app_name', '=', filters.appName)
  if (filters.version !== undefined) query = query.where('version', '=', filters.version)
  if (filters.actionName !== undefined) query = query.where('action_name', '=', filters.actionName)
  if (filters.deploymentId !== undefined) query = query.where('deployment_id', '=', filters.deploymentId)
  if (filters.status !== undefined) query = query.where('status', '=', filters.status)
  if (filters.sinceNs !== undefined) query = query.where('started_ns', '>=', String(filters.sinceNs))
  if (filters.query) {
    const part = containing(filters.query)
    query = query.where((where) =>
      where.or([
        where('id', 'ilike', part),
        where('app_name', 'ilike', part),
        where('action_name', 'ilike', part),
      ]),
    )
  }
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(filters.limit)
    .offset(filters.offset)
    .execute()
}

/** A page of long values would be half a gigabyte. */
function shortOnly(column: 'payload' | 'output') {
  return sql<Buffer | null>`CASE WHEN octet_length(${sql.ref(column)}) <= ${MAX_LISTED_LENGTH} THEN ${sql.ref(column)} END`
}

/** Assigns the queued invocation to this server, so that it is found if the server is lost. */
export async function assign(db: Db, id: string, serverId: string): Promise<InvocationRecord | undefined> {
  return db
    .updateTable('invocations')
    .set({ server_id: serverId })
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .returning(columns)
    .executeTakeFirst()
}

/** The only place that assigns an invocation to a worker, exactly once. */
export async function markRunning(
  tx: Db,
  id: string,
  worker: { serverId: string; instanceId: string; startedNs: bigint },
): Promise<InvocationRecord | undefined> {
  return tx
    .updateTable('invocations')
    .set({
      status: 'running',
      server_id: worker.serverId,
      instance_id: worker.instanceId,
      started_ns: String(worker.startedNs),
    })
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .returning(columns)
    .executeTakeFirst()
}

/** False when this worker no longer owns it. */
export async function keepPosition(
  tx: Db,
  { id, instance_id }: InvocationRecord,
  lastRecord: number,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('invocations')
    .set({ last_record: lastRecord })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .where('instance_id', '=', instance_id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export interface InvocationEnd {
  readonly status: 'succeeded' | 'failed'
  readonly reason: string | null
  readonly output: Buffer | null
  /** Only while this instance owns it: a worker that was given up must not change it. */
  readonly byInstance?: string
}

/** Undefined when it had already ended: the first end counts. */
export async function markEnded(
  tx: Db,
  id: string,
  end: InvocationEnd,
): Promise<InvocationRecord | undefined> {
  let query = tx
    .updateTable('invocations')
    .set({
      status: end.status,
      status_reason: end.reason,
      output: end.output,
      finished_at: sql<string>`now()`,
    })
    .where('id', '=', id)
    .where('finished_at', 'is', null)
  if (end.byInstance !== undefined) {
    query = query.where('status', '=', 'running').where('instance_id', '=', end.byInstance)
  }
  return query.returning(columns).executeTakeFirst()
}

/** Ends the invocation's browser sessions. */
export async function endBrowsers(tx: Db, invocationId: string): Promise<EndedBrowser[]> {
  const ids = tx.selectFrom('browsers').select('id').where('invocation_id', '=', invocationId)
  const rows = await transitionAll(tx, ids, { to: 'ending', reason: 'deleted' })
  // Each server ends the sessions that it runs.
  for (const { id } of rows) await announceChange(tx, 'sessionChanged', { sessionId: id })
  return rows
}

export async function tieBrowser(tx: Db, browserId: string, invocationId: string): Promise<void> {
  await tx.updateTable('browsers').set({ invocation_id: invocationId }).where('id', '=', browserId).execute()
}

/** The running invocations of this server. */
export async function listRunningOf(db: Db, serverId: string): Promise<InvocationRecord[]> {
  return db
    .selectFrom('invocations')
    .select(columns)
    .where('server_id', '=', serverId)
    .where('status', '=', 'running')
    .execute()
}

export async function listLiveOf(db: Db, deploymentId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('invocations')
    .select('id')
    .where('deployment_id', '=', deploymentId)
    .where('finished_at', 'is', null)
    .execute()
  return rows.map(({ id }) => id)
}

/** Invocations that nobody can run: their deployment has ended, or its server is lost. */
export async function listLost(
  db: Db,
  silentSeconds: number,
): Promise<{ id: string; isHomeLost: boolean }[]> {
  const { rows } = await sql<{ id: string; isHomeLost: boolean }>`
    SELECT * FROM (
      SELECT invocations.id, servers.seen_at < now() - make_interval(secs => ${silentSeconds}) AS "isHomeLost",
        deployments.status IN ('failed', 'stopped') AS "isStopped"
      FROM invocations
      JOIN deployments ON deployments.id = invocations.deployment_id
      JOIN servers ON servers.id = deployments.server_id
      WHERE finished_at IS NULL) AS live
    WHERE "isHomeLost" OR "isStopped"`.execute(db)
  return rows
}

/** Puts invocations of this server's deployments back into the queue: those whose job was interrupted or lost. */
export async function requeue(
  tx: Db,
  serverId: string,
  { isRestarted, waitedSeconds }: { isRestarted: boolean; waitedSeconds: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    UPDATE invocations SET server_id = NULL, queued_at = now()
    FROM deployments
    WHERE deployments.id = invocations.deployment_id AND deployments.server_id = ${serverId}
      AND invocations.status = 'queued' AND (
        ${isRestarted} OR (invocations.server_id IS NULL
          AND invocations.queued_at < now() - make_interval(secs => ${waitedSeconds})))
    RETURNING invocations.id`.execute(tx)
  return rows.map(({ id }) => id)
}

/** For the hourly housekeeping. */
export async function deleteEndedBefore(tx: Db, end: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    DELETE FROM invocations WHERE id IN (
      SELECT id FROM invocations WHERE finished_at < ${end.toISOString()} LIMIT ${limit})
    RETURNING id`.execute(tx)
  return rows.length
}
