import { sql } from 'kysely'
import { newId } from '@berth/kit/ids'
import { containing } from '../../platform/database/like.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { ProviderRecord } from './types.ts'

const columns = [
  'id',
  'name',
  'provider_type',
  'server_url',
  'sealed_token',
  'is_enabled',
  'priority',
  'cache_ttl_seconds',
  'project_ids',
  'created_at',
  'updated_at',
  'deleted_at',
] as const

/** Created before the row, because the sealed token is bound to it. */
export const newProviderId = (): string => newId('credprov_')

/** A new provider is last in the order until it is moved. */
export async function insertProvider(
  tx: Db,
  provider: Pick<
    ProviderRecord,
    'id' | 'name' | 'provider_type' | 'server_url' | 'sealed_token' | 'cache_ttl_seconds' | 'project_ids'
  >,
): Promise<ProviderRecord> {
  const lowest = sql<number>`(SELECT coalesce(max(priority) + 1, 0) FROM credential_providers WHERE deleted_at IS NULL)`
  return tx
    .insertInto('credential_providers')
    .values({ ...provider, priority: lowest })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Also finds a deleted provider. */
export async function findProvider(
  db: Db,
  id: string,
  { isLocked = false }: { isLocked?: boolean } = {},
): Promise<ProviderRecord | undefined> {
  const query = db.selectFrom('credential_providers').select(columns).where('id', '=', id)
  return (isLocked ? query.forNoKeyUpdate() : query).executeTakeFirst()
}

export async function findProviderByName(
  db: Db,
  projectId: string,
  name: string,
): Promise<ProviderRecord | undefined> {
  return usableBy(db, projectId).where('name', '=', name).executeTakeFirst()
}

/** In the order in which they are asked. */
export async function listEnabledProviders(db: Db, projectId: string): Promise<ProviderRecord[]> {
  return usableBy(db, projectId)
    .where('is_enabled', '=', true)
    .orderBy('priority')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** A null project means all projects. */
export async function listProviders(
  db: Db,
  projectId: string | null,
  { query: part, limit, offset }: { query?: string; limit: number; offset: number },
): Promise<ProviderRecord[]> {
  let query = projectId === null ? live(db) : usableBy(db, projectId)
  if (part) {
    query = query.where((where) =>
      where.or([where('name', 'ilike', containing(part)), where('id', '=', part)]),
    )
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute()
}

const live = (db: Db) => db.selectFrom('credential_providers').select(columns).where('deleted_at', 'is', null)

const usableBy = (db: Db, projectId: string) => live(db).where(sql<boolean>`${projectId} = ANY (project_ids)`)

export type ProviderChange = Partial<
  Pick<
    ProviderRecord,
    'name' | 'server_url' | 'sealed_token' | 'is_enabled' | 'priority' | 'cache_ttl_seconds' | 'project_ids'
  >
>

export async function updateProvider(tx: Db, id: string, change: ProviderChange): Promise<ProviderRecord> {
  return tx
    .updateTable('credential_providers')
    .set({ ...change, updated_at: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Deletes the token at once. */
export async function markProviderDeleted(tx: Db, id: string): Promise<void> {
  await tx
    .updateTable('credential_providers')
    .set({ deleted_at: sql`now()`, sealed_token: null })
    .where('id', '=', id)
    .execute()
}
