import { sql } from 'kysely'
import { containing } from '../../platform/database/like.ts'
import type { Db } from '../../platform/database/schema.ts'
import { isLiveRow, isUsableRow } from '../browsers/state.ts'
import { isInRegion, type RegionFilter } from '../browsers/store.ts'
import type { CountedPool, PoolRecord, References, StoredSettings } from './types.ts'

const ID = /^[a-z][a-z0-9]{23}$/

const columns = [
  'id',
  'project_id',
  'name',
  'size',
  'fill_rate_per_minute',
  'timeout_seconds',
  'refresh_on_profile_update',
  'reset_on_release',
  'browser',
  'telemetry',
  'profile_id',
  'extension_ids',
  'region',
  'created_at',
  'deleted_at',
] as const

const countOf = (state: 'waiting' | 'leased') => sql<number>`(
  SELECT count(*)::int FROM browsers AS pooled
  WHERE pooled.pool_id = browser_pools.id AND ${isUsableRow('pooled')}
    AND pooled.leased_at IS ${state === 'leased' ? sql`NOT NULL` : sql`NULL`})`

const counted = (db: Db) =>
  db
    .selectFrom('browser_pools')
    .select(columns)
    .select([countOf('waiting').as('available'), countOf('leased').as('acquired')])

export async function insertPool(
  tx: Db,
  { id, projectId, region }: { id: string; projectId: string; region: string },
  settings: StoredSettings & References,
): Promise<PoolRecord> {
  return tx
    .insertInto('browser_pools')
    .values({ id, project_id: projectId, region, ...toColumns(settings) })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function updatePool(
  tx: Db,
  id: string,
  settings: StoredSettings & References,
): Promise<PoolRecord> {
  const pool = await tx
    .updateTable('browser_pools')
    .set(toColumns(settings))
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
  await tx
    .updateTable('browsers')
    .set({ pool_name: pool.name })
    .where('pool_id', '=', id)
    .where(isLiveRow())
    .where(sql<boolean>`pool_name IS DISTINCT FROM ${pool.name}`)
    .execute()
  return pool
}

function toColumns(settings: StoredSettings & References) {
  return {
    name: settings.name,
    size: settings.size,
    fill_rate_per_minute: settings.fillRatePerMinute,
    timeout_seconds: settings.timeoutSeconds,
    refresh_on_profile_update: settings.refreshOnProfileUpdate,
    reset_on_release: settings.resetOnRelease,
    browser: JSON.stringify(settings.browser),
    sealed_policy: settings.sealedPolicy,
    telemetry: settings.telemetry && [...settings.telemetry],
    profile_id: settings.profileId,
    extension_ids: [...settings.extensionIds],
  }
}

/** An id wins over a name that looks like one. A null project searches all projects. */
export async function findPool(
  db: Db,
  projectId: string | null,
  idOrName: string,
): Promise<CountedPool | undefined> {
  let query = counted(db).where('deleted_at', 'is', null)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  const byId = ID.test(idOrName) ? await query.where('id', '=', idOrName).executeTakeFirst() : undefined
  if (byId) return byId
  return query
    .where('name', '=', idOrName)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst()
}

/** Keyed by pool id; leaves out policies larger than `maxBytes`. */
export async function readPolicies(
  db: Db,
  ids: readonly string[],
  maxBytes?: number,
): Promise<ReadonlyMap<string, Buffer>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('browser_pools')
    .select(['id', 'sealed_policy'])
    .where('id', 'in', [...ids])
    .where('sealed_policy', 'is not', null)
    .$if(maxBytes !== undefined, (query) =>
      query.where(sql<boolean>`octet_length(sealed_policy) <= ${maxBytes}`),
    )
    .execute()
  return new Map(rows.map(({ id, sealed_policy }) => [id, sealed_policy!]))
}

/** Locks the pool and its leases until the transaction ends; undefined when it was deleted. */
export async function lockPool(tx: Db, id: string): Promise<PoolRecord | undefined> {
  return tx
    .selectFrom('browser_pools')
    .select(columns)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

export async function countPool(tx: Db, id: string): Promise<CountedPool> {
  return counted(tx).where('id', '=', id).executeTakeFirstOrThrow()
}

export async function listPools(
  db: Db,
  options: {
    projectId: string | null
    query?: string
    name?: string
    region?: RegionFilter
    limit: number
    offset: number
  },
): Promise<CountedPool[]> {
  let query = counted(db).where('deleted_at', 'is', null)
  if (options.projectId !== null) query = query.where('project_id', '=', options.projectId)
  if (options.name !== undefined) query = query.where('name', '=', options.name)
  if (options.region) query = query.where(isInRegion('browser_pools', options.region))
  if (options.query) {
    const { query: text } = options
    query = query.where((where) =>
      where.or([where('name', 'ilike', containing(text)), where('id', '=', text)]),
    )
  }
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(options.limit)
    .offset(options.offset)
    .execute()
}

export async function markDeleted(tx: Db, id: string): Promise<void> {
  await tx
    .updateTable('browser_pools')
    .set({ deleted_at: sql`now()` })
    .where('id', '=', id)
    .execute()
}

/** Pools of a project that are refreshed when the profile is saved. */
export async function listRefreshedBy(tx: Db, projectId: string, profileId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('browser_pools')
    .select('id')
    .where('project_id', '=', projectId)
    .where('profile_id', '=', profileId)
    .where('refresh_on_profile_update', '=', true)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  return rows.map(({ id }) => id)
}

export async function countPoolsUsingProxy(tx: Db, proxyId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('browser_pools')
    .select(sql<number>`count(*)::int`.as('count'))
    .where(sql<boolean>`browser ->> 'proxy_id' = ${proxyId}`)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

export async function countLivePools(db: Db, projectId: string): Promise<number> {
  const { count } = await db
    .selectFrom('browser_pools')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}
