import { sql } from 'kysely'
import { newId } from '@berth/kit/ids'
import { containing } from '../../platform/database/like.ts'
import type { Db } from '../../platform/database/schema.ts'
import { markAllDeleted } from './passkey-store.ts'
import type { CredentialRecord } from './types.ts'

const ID = /^cred_[a-z0-9]{24}$/

const columns = [
  'id',
  'project_id',
  'name',
  'domain',
  'sso_provider',
  'sealed_values',
  'sealed_totp',
  'sealed_mailbox',
  'allowed_domains',
  'created_at',
  'updated_at',
  'deleted_at',
] as const

/** Created before the row, because sealed values are bound to it. */
export const newCredentialId = (): string => newId('cred_')

export type NewCredential = Pick<
  CredentialRecord,
  | 'id'
  | 'project_id'
  | 'name'
  | 'domain'
  | 'sso_provider'
  | 'sealed_values'
  | 'sealed_totp'
  | 'allowed_domains'
> &
  Partial<Pick<CredentialRecord, 'sealed_mailbox'>>

export async function insertCredential(tx: Db, credential: NewCredential): Promise<CredentialRecord> {
  return tx.insertInto('credentials').values(credential).returning(columns).executeTakeFirstOrThrow()
}

/** Undefined when the name is taken; the transaction continues. */
export async function insertUnlessTaken(
  tx: Db,
  credential: NewCredential,
): Promise<CredentialRecord | undefined> {
  return tx
    .insertInto('credentials')
    .values(credential)
    .onConflict((conflict) => conflict.doNothing())
    .returning(columns)
    .executeTakeFirst()
}

/** A null project means all projects. */
const live = (db: Db, projectId: string | null) => {
  const query = db.selectFrom('credentials').where('deleted_at', 'is', null)
  return projectId === null ? query : query.where('project_id', '=', projectId)
}

/** An id wins over a name that looks like an id. */
export async function findCredential(
  db: Db,
  projectId: string | null,
  idOrName: string,
): Promise<CredentialRecord | undefined> {
  const byId = ID.test(idOrName) ? await findCredentialBy(db, projectId, 'id', idOrName) : undefined
  return byId ?? findCredentialBy(db, projectId, 'name', idOrName)
}

export async function findCredentialBy(
  db: Db,
  projectId: string | null,
  column: 'id' | 'name',
  value: string,
  // Locks the row until the transaction ends.
  { isLocked = false }: { isLocked?: boolean } = {},
): Promise<CredentialRecord | undefined> {
  const query = live(db, projectId)
    .select(columns)
    .where(column, '=', value)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
  return (isLocked ? query.forNoKeyUpdate() : query).executeTakeFirst()
}

/** Prevents deletion and renaming until the transaction ends; false when it does not exist. */
export async function holdCredential(tx: Db, projectId: string, name: string): Promise<boolean> {
  const row = await live(tx, projectId).select('id').where('name', '=', name).forShare().executeTakeFirst()
  return row !== undefined
}

export async function listCredentials(
  db: Db,
  projectId: string | null,
  options: { domain?: string; query?: string; limit: number; offset: number },
): Promise<CredentialRecord[]> {
  const { domain, query: part, limit, offset } = options
  let query = live(db, projectId).select(columns)
  if (domain !== undefined) query = query.where('domain', '=', domain)
  if (part) {
    const pattern = containing(part)
    query = query.where((where) =>
      where.or([where('name', 'ilike', pattern), where('domain', 'ilike', pattern), where('id', '=', part)]),
    )
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute()
}

export type CredentialChange = Partial<
  Pick<
    CredentialRecord,
    'name' | 'sso_provider' | 'sealed_values' | 'sealed_totp' | 'sealed_mailbox' | 'allowed_domains'
  >
>

export async function updateCredential(
  tx: Db,
  { project_id, id }: Pick<CredentialRecord, 'project_id' | 'id'>,
  change: CredentialChange,
): Promise<CredentialRecord> {
  return tx
    .updateTable('credentials')
    .set({ ...change, updated_at: sql`now()` })
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Deletes the secrets at once. */
export async function markDeleted(
  tx: Db,
  { project_id, id }: Pick<CredentialRecord, 'project_id' | 'id'>,
): Promise<void> {
  await tx
    .updateTable('credentials')
    .set({ deleted_at: sql`now()`, sealed_values: null, sealed_totp: null, sealed_mailbox: null })
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .execute()
  await markAllDeleted(tx, id)
}

export async function countCredentials(db: Db, projectId: string): Promise<number> {
  const { count } = await live(db, projectId)
    .select(sql<number>`count(*)::int`.as('count'))
    .executeTakeFirstOrThrow()
  return count
}
