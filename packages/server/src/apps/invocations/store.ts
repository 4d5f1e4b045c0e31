import { sql } from 'kysely'
import { MAX_LISTED_LENGTH, type InvocationStatus } from '@berth/contracts/invocations'
import { containing } from '../../platform/database/like.ts'
import { transitionAll } from '../../sessions/browsers/state.ts'
import type { EndedBrowser } from '../../sessions/browsers/types.ts'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { InvocationRecord } from './types.ts'

/** A server that was silent for longer may be gone. They say every few seconds that they are there. */
const HEARD_WITHIN_SECONDS = 25

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
  'sent_to',
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
  /** The server whose queue has the job. */
  readonly sentTo: string
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
      sent_to: row.sentTo,
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

export interface Choice {
  readonly deploymentId: string
  /** The server that asks; it is chosen if nothing speaks for another one. */
  readonly serverId: string
  /** Invocations of one instance. */
  readonly maxRuns: number
}

/**
 * The server to run an invocation: of those that reach the files of its app, one that has room in a running instance,
 * otherwise the least busy one whose host is not full. Without any, the one that built the app.
 */
export async function chooseServer(tx: Db, { deploymentId, serverId, maxRuns }: Choice): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    SELECT coalesce((
      SELECT servers.id FROM servers
      WHERE servers.app_store = blobs.store
        AND servers.seen_at > now() - make_interval(secs => ${HEARD_WITHIN_SECONDS})
      ORDER BY
        (SELECT count(*) FROM invocations
          WHERE finished_at IS NULL AND sent_to = servers.id AND deployment_id = ${deploymentId})
        < ${maxRuns} * (SELECT count(*) FROM app_instances
          WHERE deployment_id = ${deploymentId} AND server_id = servers.id AND is_set_up) DESC,
        coalesce(servers.room, 1) = 0,
        (SELECT count(*) FROM invocations WHERE finished_at IS NULL AND sent_to = servers.id),
        servers.id = ${serverId} DESC, servers.id
      LIMIT 1), deployments.server_id) AS id
    FROM deployments LEFT JOIN blobs ON blobs.id = deployments.built_blob_id
    WHERE deployments.id = ${deploymentId}`.execute(tx)
  return rows[0]!.id
}

/**
 * Chooses another server for a queued invocation that this one has assigned to itself: one that reaches the files of its
 * app and says that it has room, or says nothing about that. Undefined, and nothing changes, when there is none.
 */
export async function leaveToOther(
  tx: Db,
  id: string,
  { serverId, tried }: { serverId: string; tried: readonly string[] },
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    WITH other AS (
      SELECT servers.id FROM invocations AS wanted
      JOIN deployments ON deployments.id = wanted.deployment_id
      JOIN blobs ON blobs.id = deployments.built_blob_id
      JOIN servers ON servers.app_store = blobs.store
      WHERE wanted.id = ${id} AND servers.id <> ALL(${tried}) AND coalesce(servers.room, 1) > 0
        AND servers.seen_at > now() - make_interval(secs => ${HEARD_WITHIN_SECONDS})
      ORDER BY servers.room DESC NULLS LAST, servers.id LIMIT 1)
    UPDATE invocations SET server_id = NULL, queued_at = now(), sent_to = other.id FROM other
    WHERE invocations.id = ${id} AND status = 'queued' AND server_id = ${serverId}
    RETURNING other.id`.execute(tx)
  return rows[0]?.id
}

export async function sendTo(tx: Db, id: string, serverId: string): Promise<void> {
  await tx.updateTable('invocations').set({ sent_to: serverId }).where('id', '=', id).execute()
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
      sent_to: worker.serverId,
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

/** Invocations that nobody can run: their deployment has ended, or their server or all that have the files are lost. */
export async function listLost(
  db: Db,
  silentSeconds: number,
): Promise<{ id: string; isServerLost: boolean }[]> {
  const isSilent = (server: string) =>
    sql`${sql.ref(`${server}.seen_at`)} < now() - make_interval(secs => ${silentSeconds})`
  const { rows } = await sql<{ id: string; isServerLost: boolean }>`
    SELECT * FROM (
      SELECT invocations.id, deployments.status IN ('failed', 'stopped') AS "isStopped",
        CASE invocations.status WHEN 'running' THEN ${isSilent('worker')}
          ELSE ${isSilent('home')} AND NOT EXISTS (
            SELECT FROM servers AS able JOIN blobs ON blobs.store = able.app_store
            WHERE blobs.id = deployments.built_blob_id AND NOT ${isSilent('able')}) END AS "isServerLost"
      FROM invocations
      JOIN deployments ON deployments.id = invocations.deployment_id
      JOIN servers AS home ON home.id = deployments.server_id
      LEFT JOIN servers AS worker ON worker.id = invocations.server_id
      WHERE finished_at IS NULL) AS live
    WHERE "isServerLost" OR "isStopped"`.execute(db)
  return rows
}

export interface LostJobs {
  readonly serverId: string
  /** Where this server reads files. */
  readonly storeId: string
  /** This server has just started: what it had begun, it has forgotten. */
  readonly isRestarted: boolean
  readonly waitedSeconds: number
  readonly silentSeconds: number
}

/**
 * Takes back invocations whose job was interrupted or lost: of this server, and of any server where this one has the
 * files too.
 */
export async function takeBack(
  tx: Db,
  { serverId, storeId, isRestarted, waitedSeconds, silentSeconds }: LostJobs,
): Promise<{ id: string; deploymentId: string }[]> {
  const { rows } = await sql<{ id: string; deploymentId: string }>`
    UPDATE invocations SET server_id = NULL, queued_at = now()
    FROM deployments LEFT JOIN blobs ON blobs.id = deployments.built_blob_id
    WHERE deployments.id = invocations.deployment_id AND invocations.status = 'queued' AND (
      (${isRestarted} AND coalesce(invocations.sent_to, deployments.server_id) = ${serverId})
      OR ((deployments.server_id = ${serverId} OR blobs.store = ${storeId})
        AND invocations.queued_at < now() - make_interval(secs => ${waitedSeconds})
        AND (invocations.server_id IS NULL OR invocations.server_id IN (
          SELECT servers.id FROM servers
          WHERE seen_at < now() - make_interval(secs => ${silentSeconds})))))
    RETURNING invocations.id, deployments.id AS "deploymentId"`.execute(tx)
  return rows
}

/** For the hourly housekeeping. */
export async function deleteEndedBefore(tx: Db, end: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    DELETE FROM invocations WHERE id IN (
      SELECT id FROM invocations WHERE finished_at < ${end.toISOString()} LIMIT ${limit})
    RETURNING id`.execute(tx)
  return rows.length
}
