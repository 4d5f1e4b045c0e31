import { sql, type Selectable } from 'kysely'
import type { AppAction } from '@berth/contracts/apps'
import { newId } from '@berth/kit/ids'
import { containing } from '../../platform/database/like.ts'
import type { Db, Tables } from '../../platform/database/schema.ts'

export type AppVersionRecord = Selectable<Tables['app_versions']> & {
  env_names: string[]
}

function selectVersions(db: Db) {
  return db
    .selectFrom('app_versions')
    .innerJoin('deployments', 'deployments.id', 'app_versions.deployment_id')
    .select([
      'app_versions.id',
      'app_versions.project_id',
      'app_versions.deployment_id',
      'app_versions.app_name',
      'app_versions.version',
      'app_versions.actions',
      'app_versions.created_at',
      'app_versions.ended_at',
      'deployments.env_names',
    ])
}

export async function listAppVersions(
  db: Db,
  projectId: string | null,
  options: { app_name?: string; version?: string; query?: string; limit: number; offset: number },
): Promise<AppVersionRecord[]> {
  let query = selectVersions(db).where('ended_at', 'is', null)
  if (projectId !== null) query = query.where('app_versions.project_id', '=', projectId)
  if (options.app_name !== undefined) query = query.where('app_name', '=', options.app_name)
  if (options.version !== undefined) query = query.where('app_versions.version', '=', options.version)
  if (options.query) {
    const part = containing(options.query)
    query = query.where((where) =>
      where.or([where('app_name', 'ilike', part), where('app_versions.version', 'ilike', part)]),
    )
  }
  return query
    .orderBy('app_versions.created_at', 'desc')
    .orderBy('app_versions.id', 'desc')
    .limit(options.limit)
    .offset(options.offset)
    .execute()
}

/** The version that this name and label invoke. */
export async function findAppVersion(
  db: Db,
  projectId: string,
  { appName, version }: { appName: string; version: string },
): Promise<AppVersionRecord | undefined> {
  return selectVersions(db)
    .where('app_versions.project_id', '=', projectId)
    .where('app_name', '=', appName)
    .where('app_versions.version', '=', version)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
}

export async function findAppVersionById(db: Db, id: string): Promise<AppVersionRecord | undefined> {
  return selectVersions(db).where('app_versions.id', '=', id).executeTakeFirst()
}

export async function insertAppVersion(
  tx: Db,
  app: {
    projectId: string
    deploymentId: string
    appName: string
    version: string
    actions: readonly AppAction[]
  },
): Promise<string> {
  const id = newId('app_')
  await tx
    .insertInto('app_versions')
    .values({
      id,
      project_id: app.projectId,
      deployment_id: app.deploymentId,
      app_name: app.appName,
      version: app.version,
      actions: JSON.stringify(app.actions),
    })
    .execute()
  return id
}

/** Ends a deployment's versions; none of them can be invoked any more. */
export async function endAppVersions(tx: Db, deploymentId: string): Promise<void> {
  await tx
    .updateTable('app_versions')
    .set({ ended_at: sql`now()` })
    .where('deployment_id', '=', deploymentId)
    .where('ended_at', 'is', null)
    .execute()
}

export interface TakenNames {
  readonly projectId: string
  readonly version: string
  readonly appNames: readonly string[]
}

const NAME_LOCKS = 7_236_816
/** Until the transaction ends, nobody else can name a version in this project. */
export async function lockNames(tx: Db, projectId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${NAME_LOCKS}, hashtext(${projectId}))`.execute(tx)
}

/** The deployments that use one of these names with this label. */
export async function listRivals(tx: Db, { projectId, version, appNames }: TakenNames): Promise<string[]> {
  const rows = await tx
    .selectFrom('app_versions')
    .select('deployment_id')
    .distinct()
    .where('project_id', '=', projectId)
    .where('version', '=', version)
    .where('app_name', 'in', [...appNames])
    .where('ended_at', 'is', null)
    .execute()
  return rows.map((row) => row.deployment_id)
}

/** Ends the versions with one of these names and this label. Lock their deployments first. */
export async function endRivals(tx: Db, { projectId, version, appNames }: TakenNames): Promise<void> {
  await tx
    .updateTable('app_versions')
    .set({ ended_at: sql`now()` })
    .where('project_id', '=', projectId)
    .where('version', '=', version)
    .where('app_name', 'in', [...appNames])
    .where('ended_at', 'is', null)
    .execute()
}

export async function hasAppVersions(db: Db, deploymentId: string): Promise<boolean> {
  const row = await db
    .selectFrom('app_versions')
    .select('id')
    .where('deployment_id', '=', deploymentId)
    .where('ended_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Instances that run apps on a server. */
export async function insertAppInstance(
  db: Db,
  row: { instanceId: string; deploymentId: string; serverId: string },
): Promise<void> {
  const { instanceId, deploymentId, serverId } = row
  await db
    .insertInto('app_instances')
    .values({ instance_id: instanceId, deployment_id: deploymentId, server_id: serverId })
    .execute()
}

/** Where a server reads files while it can run apps; null: it gets no more of them. */
export async function showAppStore(db: Db, serverId: string, storeId: string | null): Promise<void> {
  await db.updateTable('servers').set({ app_store: storeId }).where('id', '=', serverId).execute()
}

export async function markSetUp(db: Db, instanceId: string): Promise<void> {
  await db
    .updateTable('app_instances')
    .set({ is_set_up: true })
    .where('instance_id', '=', instanceId)
    .execute()
}

export async function deleteAppInstance(db: Db, instanceId: string): Promise<void> {
  await db.deleteFrom('app_instances').where('instance_id', '=', instanceId).execute()
}

export async function listAppInstances(
  db: Db,
  serverId: string,
): Promise<{ instanceId: string; deploymentId: string; projectId: string; isSetUp: boolean }[]> {
  return db
    .selectFrom('app_instances')
    .innerJoin('deployments', 'deployments.id', 'deployment_id')
    .select(['instance_id as instanceId', 'deployment_id as deploymentId', 'is_set_up as isSetUp'])
    .select('deployments.project_id as projectId')
    .where('app_instances.server_id', '=', serverId)
    .execute()
}
