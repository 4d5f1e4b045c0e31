import { sql, type Selectable } from 'kysely'
import { newId } from '@berth/kit/ids'
import { containing, startingWith } from '../../platform/database/like.ts'
import type { Db, Tables } from '../../platform/database/schema.ts'
import type { KeyMaterial } from './key.ts'

export type ApiKeyRecord = Selectable<Tables['api_keys']> & { project_name: string | null }

export interface NewApiKey {
  readonly material: KeyMaterial
  readonly name: string
  readonly projectId: string | null
  readonly creator: { readonly id: string; readonly name: string | null; readonly email: string }
  readonly lifetimeDays: number | null
  /** The key belongs to a deployment, is deleted with it, and appears in no list. */
  readonly isOfDeployment?: boolean
}

function selectKeys(db: Db) {
  return db
    .selectFrom('api_keys')
    .leftJoin('projects', (join) =>
      join.onRef('projects.id', '=', 'api_keys.project_id').on('projects.deleted_at', 'is', null),
    )
    .selectAll('api_keys')
    .select('projects.name as project_name')
    .where('is_of_deployment', '=', false)
}

export async function insertApiKey(tx: Db, key: NewApiKey): Promise<ApiKeyRecord> {
  const id = await insertKey(tx, key)
  return selectKeys(tx).where('api_keys.id', '=', id).executeTakeFirstOrThrow()
}

/** Inserts a deployment's key and returns its id. */
export async function insertDeploymentKey(tx: Db, key: Omit<NewApiKey, 'lifetimeDays'>): Promise<string> {
  return insertKey(tx, { ...key, lifetimeDays: null, isOfDeployment: true })
}

async function insertKey(tx: Db, key: NewApiKey): Promise<string> {
  const id = newId('key_')
  await tx
    .insertInto('api_keys')
    .values({
      id,
      public_id: key.material.publicId,
      secret_hash: key.material.hash,
      masked_key: key.material.masked,
      name: key.name,
      project_id: key.projectId,
      created_by_id: key.creator.id,
      created_by_name: key.creator.name,
      created_by_email: key.creator.email,
      lifetime_days: key.lifetimeDays,
      is_of_deployment: key.isOfDeployment ?? false,
      expires_at:
        key.lifetimeDays === null ? null : sql<string>`now() + make_interval(days => ${key.lifetimeDays})`,
    })
    .execute()
  return id
}

/** Searches one project, or all when `projectId` is null. */
export async function findApiKey(
  db: Db,
  projectId: string | null,
  id: string,
  { isLocked = false }: { isLocked?: boolean } = {},
): Promise<ApiKeyRecord | undefined> {
  let query = selectKeys(db).where('api_keys.id', '=', id)
  if (projectId !== null) query = query.where('api_keys.project_id', '=', projectId)
  // Locks only the key's own row: its project is on the nullable side of the join.
  if (isLocked) query = query.forNoKeyUpdate('api_keys')
  return query.executeTakeFirst()
}

export interface ApiKeyListOptions {
  readonly status: 'active' | 'deleted' | 'all'
  readonly query?: string
  readonly name?: string
  readonly sortBy: 'created_at' | 'name' | 'expires_at'
  readonly direction: 'asc' | 'desc'
  readonly limit: number
  readonly offset: number
}

export async function listApiKeys(
  db: Db,
  projectId: string | null,
  options: ApiKeyListOptions,
): Promise<ApiKeyRecord[]> {
  let query = selectKeys(db)
  if (projectId !== null) query = query.where('api_keys.project_id', '=', projectId)
  if (options.status === 'active') query = query.where('api_keys.deleted_at', 'is', null)
  if (options.status === 'deleted') query = query.where('api_keys.deleted_at', 'is not', null)
  if (options.name !== undefined) query = query.where('api_keys.name', '=', options.name)
  const text = options.query
  if (text) {
    query = query.where((where) =>
      where.or([
        where('api_keys.name', 'ilike', containing(text)),
        where('api_keys.created_by_name', 'ilike', containing(text)),
        where('api_keys.created_by_email', 'ilike', containing(text)),
        where('projects.name', 'ilike', containing(text)),
        where('api_keys.id', 'like', startingWith(text)),
        where('api_keys.masked_key', 'like', startingWith(text)),
      ]),
    )
  }
  return (
    query
      // A key that never expires sorts after all others, in both directions.
      .orderBy(`api_keys.${options.sortBy}`, (order) =>
        (options.direction === 'asc' ? order.asc() : order.desc()).nullsLast(),
      )
      .orderBy('api_keys.id', options.direction)
      .limit(options.limit)
      .offset(options.offset)
      .execute()
  )
}

export async function renameApiKey(tx: Db, id: string, name: string): Promise<void> {
  await tx.updateTable('api_keys').set({ name }).where('id', '=', id).execute()
}

/** Returns the public id, for caches; undefined when the key was already deleted. */
export async function deleteDeploymentKey(tx: Db, id: string): Promise<string | undefined> {
  const row = await tx
    .updateTable('api_keys')
    .set({ deleted_at: sql`now()` })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning('public_id')
    .executeTakeFirst()
  return row?.public_id
}

export async function markApiKeyDeleted(tx: Db, id: string): Promise<void> {
  await tx
    .updateTable('api_keys')
    .set({ deleted_at: sql`now()` })
    .where('id', '=', id)
    .execute()
}

/** Never extends the key's lifetime. */
export async function expireApiKey(tx: Db, id: string, days: number): Promise<void> {
  const end = sql<string>`now() + make_interval(days => ${days})`
  await tx
    .updateTable('api_keys')
    .set({ expires_at: sql`least(expires_at, ${end})` })
    .where('id', '=', id)
    .execute()
}

export async function countLiveApiKeys(db: Db, projectId: string): Promise<number> {
  const { count } = await db
    .selectFrom('api_keys')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .where('is_of_deployment', '=', false)
    .executeTakeFirstOrThrow()
  return count
}

export async function hasAnyApiKey(db: Db): Promise<boolean> {
  const row = await db.selectFrom('api_keys').select('id').limit(1).executeTakeFirst()
  return row !== undefined
}

export interface AuthenticationRecord {
  readonly id: string
  readonly publicId: string
  readonly secretHash: Buffer
  readonly expiresAt: string | null
  readonly projectId: string | null
  readonly projectStatus: string | null
  readonly creator: { readonly id: string; readonly name: string | null; readonly email: string }
}

export async function findForAuthentication(
  db: Db,
  publicId: string,
): Promise<AuthenticationRecord | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .leftJoin('projects', 'projects.id', 'api_keys.project_id')
    .select([
      'api_keys.id',
      'secret_hash',
      'expires_at',
      'project_id',
      'projects.status as project_status',
      'created_by_id',
      'created_by_name',
      'created_by_email',
    ])
    .where('public_id', '=', publicId)
    .where('api_keys.deleted_at', 'is', null)
    .executeTakeFirst()
  if (!row) return undefined
  return {
    id: row.id,
    publicId,
    secretHash: row.secret_hash,
    expiresAt: row.expires_at,
    projectId: row.project_id,
    projectStatus: row.project_status,
    creator: { id: row.created_by_id, name: row.created_by_name, email: row.created_by_email },
  }
}
