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
    'id' | 'name' | 'provider_type' | 'server_url' | 'sealed_token' | 'cache_ttl_seconds'
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

export async function findProviderByName(db: Db, name: string): Promise<ProviderRecord | undefined> {
  return live(db).where('name', '=', name).executeTakeFirst()
}

/** In the order in which they are asked. */
export async function listEnabledProviders(db: Db): Promise<ProviderRecord[]> {
  return live(db)
    .where('is_enabled', '=', true)
    .orderBy('priority')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export async function listProviders(
  db: Db,
  { query: part, limit, offset }: { query?: string; limit: number; offset: number },
): Promise<ProviderRecord[]> {
  let query = live(db)
  if (part) {
    query = query.where((where) =>
      where.or([where('name', 'ilike', containing(part)), where('id', '=', part)]),
    )
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute()
}

const live = (db: Db) => db.selectFrom('credential_providers').select(columns).where('deleted_at', 'is', null)

export type ProviderChange = Partial<
  Pick<
    ProviderRecord,
    'name' | 'server_url' | 'sealed_token' | 'is_enabled' | 'priority' | 'cache_ttl_seconds'
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
