import { sql, type RawBuilder, type Selectable } from 'kysely'
import type { Scope } from '@berth/contracts/scopes'
import { newId } from '@berth/kit/ids'
import { containing, startingWith } from '../../platform/database/like.ts'
import type { Db, Tables } from '../../platform/database/schema.ts'
import type { KeyMaterial } from './key.ts'

export type ApiKeyRecord = Selectable<Tables['api_keys']> & {
  project_name: string | null
  /** The project of the key that made it; null for an organisation-wide key. */
  maker_project_id: string | null
}

/** What a key may hand on. */
export interface Maker {
  readonly id: string
  readonly maker_id: string | null
  readonly scopes: readonly Scope[] | null
  readonly expires_at: string | null
}

export interface NewApiKey {
  readonly material: KeyMaterial
  readonly name: string
  readonly projectId: string | null
  readonly creator: { readonly id: string; readonly name: string | null; readonly email: string }
  readonly lifetimeDays: number | null
  readonly scopes: readonly Scope[] | null
  /** Null for a key of the operator. */
  readonly makerId: string | null
  /** The expiry of whoever makes it, which bounds its own. */
  readonly notAfter: string | null
  /** The key belongs to a deployment, is deleted with it, and appears in no list. */
  readonly isOfDeployment?: boolean
}

function selectKeys(db: Db) {
  return db
    .selectFrom('api_keys')
    .leftJoin('projects', (join) =>
      join.onRef('projects.id', '=', 'api_keys.project_id').on('projects.deleted_at', 'is', null),
    )
    .leftJoin('api_keys as makers', 'makers.id', 'api_keys.maker_id')
    .selectAll('api_keys')
    .select(['projects.name as project_name', 'makers.project_id as maker_project_id'])
    .where('api_keys.is_of_deployment', '=', false)
}

export async function insertApiKey(tx: Db, key: NewApiKey): Promise<ApiKeyRecord> {
  const id = await insertKey(tx, key)
  return selectKeys(tx).where('api_keys.id', '=', id).executeTakeFirstOrThrow()
}

/** Inserts a deployment's key and returns its id. It may do what its maker may, and lives as long. */
export async function insertDeploymentKey(
  tx: Db,
  { maker, ...key }: Pick<NewApiKey, 'material' | 'name' | 'projectId' | 'creator'> & { maker: Maker },
): Promise<string> {
  const inherited = { scopes: maker.scopes, makerId: maker.id, notAfter: maker.expires_at }
  return insertKey(tx, { ...key, ...inherited, lifetimeDays: null, isOfDeployment: true })
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
      scopes: key.scopes && [...key.scopes],
      maker_id: key.makerId,
      is_of_deployment: key.isOfDeployment ?? false,
      // least() ignores nulls; make_interval() of null is null.
      expires_at: sql<string>`least(now() + make_interval(days => ${key.lifetimeDays}::int), ${key.notAfter}::timestamptz)`,
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

const makerColumns = ['id', 'maker_id', 'scopes', 'expires_at'] as const

export async function findMaker(db: Db, id: string): Promise<Maker | undefined> {
  return db.selectFrom('api_keys').select(makerColumns).where('id', '=', id).executeTakeFirst()
}

/**
 * Holds a live key until the transaction ends, so that nobody ends it while it makes another one. Undefined when it was
 * deleted or has expired meanwhile.
 */
export async function holdMaker(tx: Db, id: string): Promise<Maker | undefined> {
  return tx
    .selectFrom('api_keys')
    .select(makerColumns)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .where((where) =>
      where.or([where('expires_at', 'is', null), where('expires_at', '>', sql<string>`now()`)]),
    )
    .forShare()
    .executeTakeFirst()
}

/** Whether `id` made the key, or made the key that made it, and so on. */
export async function isMakerOf(db: Db, id: string, keyId: string): Promise<boolean> {
  const { rows } = await sql<{ found: number }>`
    WITH RECURSIVE makers AS (
      SELECT maker_id AS id FROM api_keys WHERE id = ${keyId}
      UNION SELECT api_keys.maker_id FROM api_keys JOIN makers ON api_keys.id = makers.id
    ) SELECT 1 AS found FROM makers WHERE id = ${id}`.execute(db)
  return rows.length > 0
}

const madeBy = (id: string) => sql`
  WITH RECURSIVE made AS (
    SELECT id FROM api_keys WHERE maker_id = ${id}
    UNION SELECT api_keys.id FROM api_keys JOIN made ON api_keys.maker_id = made.id
  )`

/** Applies a change to every key that this one made, directly or not, and returns their public ids. */
async function changeMade(tx: Db, id: string, change: RawBuilder<unknown>): Promise<string[]> {
  const changed: string[] = []
  while (true) {
    // Again until nothing is left: the first statement does not see a key that another transaction was adding to one
    // of these. After it none can be added, because it holds them all.
    const { rows } = await sql<{ public_id: string }>`
      ${madeBy(id)} UPDATE api_keys ${change} AND id IN (SELECT id FROM made) RETURNING public_id`.execute(tx)
    if (rows.length === 0) return changed
    changed.push(...rows.map(({ public_id }) => public_id))
  }
}

/** The keys that `oldId` made belong to its successor from now on, and outlive it no longer than the old one. */
export async function handOverMade(tx: Db, oldId: string, successor: Maker): Promise<string[]> {
  await tx
    .updateTable('api_keys')
    .set({ maker_id: successor.id })
    .where('maker_id', '=', oldId)
    .where('id', '!=', successor.id)
    .execute()
  const end = successor.expires_at
  const followed = await tx
    .updateTable('api_keys')
    // Has no lifetime of its own: it lives as long as its maker.
    .set({ expires_at: end })
    .where('maker_id', '=', successor.id)
    .where('is_of_deployment', '=', true)
    .returning('public_id')
    .execute()
  const shortened =
    end === null
      ? []
      : await changeMade(
          tx,
          successor.id,
          sql`SET expires_at = ${end} WHERE coalesce(expires_at, 'infinity') > ${end}::timestamptz`,
        )
  return [...followed.map(({ public_id }) => public_id), ...shortened]
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

/** Also ends every key that it made, and returns their public ids. */
export async function markApiKeyDeleted(tx: Db, id: string): Promise<string[]> {
  await tx
    .updateTable('api_keys')
    .set({ deleted_at: sql`now()` })
    .where('id', '=', id)
    .execute()
  return changeMade(tx, id, sql`SET deleted_at = now() WHERE deleted_at IS NULL`)
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
  readonly scopes: readonly Scope[] | null
  readonly isOfDeployment: boolean
  readonly creator: { readonly id: string; readonly name: string | null; readonly email: string }
}

export async function findForAuthentication(
  db: Db,
  publicId: string,
): Promise<AuthenticationRecord | undefined> {
  const row = await selectForAuthentication(db).where('public_id', '=', publicId).executeTakeFirst()
  return row && toAuthenticationRecord(row)
}

/** The key of somebody who signed in. It ends with the sign-in, if that is sooner. */
export async function findForSignIn(db: Db, signInId: string): Promise<AuthenticationRecord | undefined> {
  const row = await selectForAuthentication(db)
    .innerJoin('sign_ins', 'sign_ins.key_id', 'api_keys.id')
    .select([
      'sign_ins.secret_hash as sign_in_hash',
      sql<string>`least(api_keys.expires_at, sign_ins.expires_at)`.as('sign_in_end'),
    ])
    .where('sign_ins.id', '=', signInId)
    .executeTakeFirst()
  if (!row) return undefined
  const { sign_in_hash: secretHash, sign_in_end: expiresAt } = row
  return { ...toAuthenticationRecord(row), secretHash, expiresAt }
}

function selectForAuthentication(db: Db) {
  return db
    .selectFrom('api_keys')
    .leftJoin('projects', 'projects.id', 'api_keys.project_id')
    .select([
      'api_keys.id',
      'api_keys.public_id',
      'api_keys.secret_hash',
      'api_keys.expires_at',
      'api_keys.project_id',
      'projects.status as project_status',
      'api_keys.scopes',
      'api_keys.is_of_deployment',
      'api_keys.created_by_id',
      'api_keys.created_by_name',
      'api_keys.created_by_email',
    ])
    .where('api_keys.deleted_at', 'is', null)
}

type AuthenticationRow = NonNullable<
  Awaited<ReturnType<ReturnType<typeof selectForAuthentication>['executeTakeFirst']>>
>

function toAuthenticationRecord(row: AuthenticationRow): AuthenticationRecord {
  return {
    id: row.id,
    publicId: row.public_id,
    secretHash: row.secret_hash,
    expiresAt: row.expires_at,
    projectId: row.project_id,
    projectStatus: row.project_status,
    scopes: row.scopes,
    isOfDeployment: row.is_of_deployment,
    creator: { id: row.created_by_id, name: row.created_by_name, email: row.created_by_email },
  }
}
