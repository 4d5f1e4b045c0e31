import { sql } from 'kysely'
import type { DeploymentStatus } from '@berth/contracts/deployments'
import { containing } from '../../platform/database/like.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { DeploymentRecord } from './types.ts'

const columns = [
  'id',
  'project_id',
  'status',
  'status_reason',
  'version',
  'is_forced',
  'entrypoint',
  'source_type',
  'source_url',
  'source_ref',
  'source_path',
  'source_checksum',
  'sealed_key',
  'env_names',
  'secrets',
  'api_key_id',
  'source_blob_id',
  'source_bytes',
  'built_blob_id',
  'built_bytes',
  'runtime',
  'server_id',
  'attempts',
  'superseded_by',
  'last_event',
  'queued_at',
  'created_at',
  'updated_at',
] as const

export interface DeploymentRow {
  readonly id: string
  readonly projectId: string
  readonly version: string
  readonly isForced: boolean
  readonly entrypoint: string
  readonly git: { readonly url: string; readonly ref: string; readonly path?: string } | undefined
  readonly checksum: string | null
  readonly sealedKey: Buffer
  readonly envNames: readonly string[]
  readonly secrets: Buffer
  readonly apiKeyId: string
  readonly serverId: string
  readonly source: { readonly blobId: string; readonly bytes: number } | undefined
}

export async function insertDeployment(tx: Db, row: DeploymentRow): Promise<DeploymentRecord> {
  return tx
    .insertInto('deployments')
    .values({
      id: row.id,
      project_id: row.projectId,
      version: row.version,
      is_forced: row.isForced,
      entrypoint: row.entrypoint,
      source_type: row.git ? 'github' : 'file',
      source_url: row.git?.url ?? null,
      source_ref: row.git?.ref ?? null,
      source_path: row.git?.path ?? null,
      source_checksum: row.checksum,
      sealed_key: row.sealedKey,
      env_names: [...row.envNames],
      secrets: row.secrets,
      api_key_id: row.apiKeyId,
      server_id: row.serverId,
      source_blob_id: row.source?.blobId ?? null,
      source_bytes: row.source?.bytes ?? null,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** A null project means all projects. */
export async function findDeployment(
  db: Db,
  projectId: string | null,
  id: string,
): Promise<DeploymentRecord | undefined> {
  let query = db.selectFrom('deployments').select(columns).where('id', '=', id)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  return query.executeTakeFirst()
}

export async function listDeployments(
  db: Db,
  projectId: string | null,
  options: { appName?: string; appVersion?: string; query?: string; limit: number; offset: number },
): Promise<DeploymentRecord[]> {
  const { appName, appVersion, limit, offset } = options
  let query = db.selectFrom('deployments').select(columns)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  if (appName !== undefined) {
    query = query.where('id', 'in', (where) => {
      const apps = where.selectFrom('app_versions').select('deployment_id').where('app_name', '=', appName)
      return appVersion === undefined ? apps : apps.where('app_versions.version', '=', appVersion)
    })
  }
  if (options.query) {
    const part = containing(options.query)
    query = query.where((where) =>
      where.or([
        where('id', 'ilike', part),
        where(
          'id',
          'in',
          where.selectFrom('app_versions').select('deployment_id').where('app_name', 'ilike', part),
        ),
      ]),
    )
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute()
}

/** The next one for the server that has the source: projects take turns, those with fewer builds under way first. */
export async function beginBuild(tx: Db, serverId: string): Promise<DeploymentRecord | undefined> {
  return tx
    .updateTable('deployments')
    .set({
      status: 'in_progress',
      attempts: sql<number>`attempts + 1`,
      updated_at: sql<string>`now()`,
    })
    .where(
      'id',
      '=',
      sql<string>`(
        SELECT id FROM deployments AS queued WHERE server_id = ${serverId} AND status = 'queued'
        ORDER BY (SELECT count(*) FROM deployments AS building
          WHERE building.server_id = queued.server_id AND building.project_id = queued.project_id
            AND building.status = 'in_progress'), queued_at, id
        LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)`,
    )
    .returning(columns)
    .executeTakeFirst()
}

export interface Built {
  readonly blobId: string
  readonly bytes: number
  readonly runtime: 'node' | 'python'
  /** Without the secrets that only the build needs. */
  readonly secrets: Buffer
}

/** Undefined when another build has started or the deployment was stopped. */
export async function markBuilt(
  tx: Db,
  { id, attempts }: DeploymentRecord,
  built: Built,
): Promise<DeploymentRecord | undefined> {
  return tx
    .updateTable('deployments')
    .set({
      status: 'running',
      updated_at: sql<string>`now()`,
      built_blob_id: built.blobId,
      built_bytes: built.bytes,
      runtime: built.runtime,
      secrets: built.secrets,
    })
    .where('id', '=', id)
    .where('status', '=', 'in_progress')
    .where('attempts', '=', attempts)
    .returning(columns)
    .executeTakeFirst()
}

/** False when another build has started or the deployment was stopped. */
export async function markFailed(
  tx: Db,
  { id, attempts }: DeploymentRecord,
  reason: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('deployments')
    .set({ status: 'failed', status_reason: reason, updated_at: sql<string>`now()` })
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .where('status', 'in', ['queued', 'in_progress'] satisfies DeploymentStatus[])
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** False when it had already ended. */
export async function markStopped(tx: Db, id: string, reason: string | null): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('deployments')
    .set({ status: 'stopped', status_reason: reason, updated_at: sql<string>`now()` })
    .where('id', '=', id)
    .where('status', 'in', ['queued', 'in_progress', 'running'] satisfies DeploymentStatus[])
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Keeps the deployment running until the transaction ends; false when it is not running. */
export async function holdRunning(tx: Db, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('deployments')
    .select('id')
    .where('id', '=', id)
    .where('status', '=', 'running')
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/** Locks the deployments until the transaction ends, in a fixed order to avoid deadlocks. */
export async function hold(tx: Db, ids: readonly string[]): Promise<void> {
  const rows = tx
    .selectFrom('deployments')
    .select('id')
    .where('id', 'in', [...ids])
  await rows.orderBy('id').forNoKeyUpdate().execute()
}

/** Whether it still has invocations. */
export async function isBusy(tx: Db, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('invocations')
    .select('id')
    .where('deployment_id', '=', id)
    .where('finished_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function markSuperseded(tx: Db, ids: readonly string[], by: string): Promise<void> {
  if (ids.length === 0) return
  await tx
    .updateTable('deployments')
    .set({ superseded_by: by })
    .where('id', 'in', [...ids])
    .where('superseded_by', 'is', null)
    .execute()
}

/** Replaced deployments without invocations. */
export async function listSpent(db: Db): Promise<DeploymentRecord[]> {
  const busy = db
    .selectFrom('invocations')
    .select('invocations.deployment_id')
    .where('finished_at', 'is', null)
  const named = db
    .selectFrom('app_versions')
    .select('app_versions.deployment_id')
    .where('ended_at', 'is', null)
  return db
    .selectFrom('deployments')
    .select(columns)
    .where('status', '=', 'running')
    .where('superseded_by', 'is not', null)
    .where('id', 'not in', busy)
    .where('id', 'not in', named)
    .execute()
}

/** Returns the blobs that a deployment no longer needs. */
export async function releaseBlobs(tx: Db, id: string): Promise<string[]> {
  const row = await tx
    .selectFrom('deployments')
    .select(['source_blob_id', 'built_blob_id'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  await tx
    .updateTable('deployments')
    .set({ source_blob_id: null, built_blob_id: null })
    .where('id', '=', id)
    .execute()
  return [row?.source_blob_id, row?.built_blob_id].filter((blob) => typeof blob === 'string')
}

/** Ended deployments that still have blobs which this server can remove, for example after a crash. */
export async function listEndedWithBlobs(
  db: Db,
  { serverId, storeId }: { serverId: string; storeId: string },
): Promise<string[]> {
  const rows = await db
    .selectFrom('deployments')
    .select('id')
    .where('status', 'in', ['failed', 'stopped'] satisfies DeploymentStatus[])
    .where((where) =>
      where.or([where('source_blob_id', 'is not', null), where('built_blob_id', 'is not', null)]),
    )
    .where(
      sql<boolean>`(server_id = ${serverId} OR EXISTS (
        SELECT FROM blobs WHERE blobs.id IN (source_blob_id, built_blob_id) AND blobs.store = ${storeId}))`,
    )
    .limit(100)
    .execute()
  return rows.map(({ id }) => id)
}

export interface LostBuilds {
  readonly serverId: string
  /** Where this server reads files. */
  readonly storeId: string
  /** This server has just started: what it had begun, it has forgotten. */
  readonly isRestarted: boolean
  readonly waitedSeconds: number
  readonly silentSeconds: number
}

/**
 * Puts deployments back into the queue of this server: its own that were interrupted or whose job was lost, and those of
 * lost servers whose source it can read too.
 */
export async function requeue(
  tx: Db,
  { serverId, storeId, isRestarted, waitedSeconds, silentSeconds }: LostBuilds,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    UPDATE deployments SET status = 'queued', queued_at = now(), server_id = ${serverId}
    WHERE (server_id = ${serverId} AND (
        (${isRestarted} AND status IN ('queued', 'in_progress'))
        OR (status = 'queued' AND queued_at < now() - make_interval(secs => ${waitedSeconds}))))
      OR (status IN ('queued', 'in_progress') AND ${isSilent(silentSeconds)} AND (
        source_blob_id IS NULL OR EXISTS (
          SELECT FROM blobs WHERE blobs.id = source_blob_id AND blobs.store = ${storeId})))
    RETURNING id`.execute(tx)
  return rows.map(({ id }) => id)
}

/** Deployments that are not built, whose server is gone, and whose source no other server can read. */
export async function listOrphans(db: Db, silentSeconds: number): Promise<DeploymentRecord[]> {
  return db
    .selectFrom('deployments')
    .select(columns)
    .where('status', 'in', ['queued', 'in_progress'] satisfies DeploymentStatus[])
    .where(isSilent(silentSeconds))
    .where(
      sql<boolean>`NOT EXISTS (
        SELECT FROM servers AS able LEFT JOIN blobs ON blobs.id = source_blob_id
        WHERE able.app_store IS NOT NULL AND (source_blob_id IS NULL OR blobs.store = able.app_store)
          AND able.seen_at > now() - make_interval(secs => ${silentSeconds}))`,
    )
    .execute()
}

const isSilent = (seconds: number) => sql<boolean>`server_id IN (
  SELECT servers.id FROM servers WHERE seen_at < now() - make_interval(secs => ${seconds}))`

/** An ended deployment keeps its row without its files. */
export const deploymentBytes = sql`
  SELECT sum(
    CASE WHEN source_blob_id IS NULL THEN 0 ELSE source_bytes END +
    CASE WHEN built_blob_id IS NULL THEN 0 ELSE built_bytes END)
  FROM deployments
  WHERE deployments.project_id = projects.id AND (source_blob_id IS NOT NULL OR built_blob_id IS NOT NULL)`

export async function countLiveDeployments(db: Db, projectId: string): Promise<number> {
  const { count } = await db
    .selectFrom('deployments')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('project_id', '=', projectId)
    .where('status', 'in', ['queued', 'in_progress', 'running'] satisfies DeploymentStatus[])
    .executeTakeFirstOrThrow()
  return count
}

/** Whether any server has work for apps. */
export async function hasWork(db: Db): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    SELECT EXISTS (SELECT FROM deployments WHERE status IN ('queued', 'in_progress', 'running'))
      OR EXISTS (SELECT FROM invocations WHERE finished_at IS NULL) AS has`.execute(db)
  return rows[0]!.has
}
