import { sql } from 'kysely'
import { newId } from '@berth/kit/ids'
import { containing } from '../../platform/database/like.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { CheckResult, ProxyDefinition, ProxyRecord } from './types.ts'

const columns = [
  'id',
  'project_id',
  'name',
  'type',
  'protocol',
  'bypass_hosts',
  'config',
  'credentials',
  'ca_bundle',
  'sealed_ca_bundle',
  'status',
  'ip_address',
  'last_checked',
  'created_at',
  'deleted_at',
] as const

/** The id is made before the row, because the sealed secrets are bound to it. */
export const newProxyId = (): string => newId()

export async function insertProxy(
  tx: Db,
  projectId: string,
  proxy: {
    id: string
    name: string | null
    definition: ProxyDefinition
    credentials: Buffer | null
    sealedCaBundle: Buffer | null
  },
): Promise<ProxyRecord> {
  const { id, name, definition, credentials, sealedCaBundle } = proxy
  return tx
    .insertInto('proxies')
    .values({
      id,
      project_id: projectId,
      name,
      type: definition.type,
      protocol: definition.protocol,
      bypass_hosts: [...definition.bypassHosts],
      config: JSON.stringify(definition.config),
      credentials,
      sealed_ca_bundle: sealedCaBundle,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Includes deleted proxies. A null project searches all projects. */
export async function findProxy(
  db: Db,
  projectId: string | null,
  id: string,
  { isLocked = false }: { isLocked?: boolean } = {},
): Promise<ProxyRecord | undefined> {
  let query = db.selectFrom('proxies').select(columns).where('id', '=', id)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  if (isLocked) query = query.forNoKeyUpdate()
  return query.executeTakeFirst()
}

/** Keeps the proxy from being deleted until the transaction ends; false when it is deleted already. */
export async function holdProxy(tx: Db, projectId: string, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('proxies')
    .select('id')
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .forShare()
    .executeTakeFirst()
  return row !== undefined
}

export async function listProxies(
  db: Db,
  projectId: string | null,
  options: { query?: string; name?: string; limit: number; offset: number },
): Promise<ProxyRecord[]> {
  const { query: part, name, limit, offset } = options
  let query = db.selectFrom('proxies').select(columns).where('deleted_at', 'is', null)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  if (name !== undefined) query = query.where('name', '=', name)
  if (part) {
    const pattern = containing(part)
    query = query.where((where) =>
      where.or([
        where('name', 'ilike', pattern),
        where(sql<string>`config->>'host'`, 'ilike', pattern),
        where('ip_address', 'ilike', pattern),
        where('id', '=', part),
      ]),
    )
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute()
}

/** The ids of two at most. */
export async function findProxiesNamed(db: Db, projectId: string, name: string): Promise<string[]> {
  const rows = await db
    .selectFrom('proxies')
    .select('id')
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .limit(2)
    .execute()
  return rows.map(({ id }) => id)
}

/** By id; those without a name are left out. Also of deleted proxies. */
export async function namesOf(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('proxies')
    .select(['id', 'name'])
    .where('id', '=', (where) => where.fn.any(where.val([...ids])))
    .where('name', 'is not', null)
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name!]))
}

/** Undefined when the proxy does not exist or was deleted. */
export async function renameProxy(
  tx: Db,
  projectId: string | null,
  id: string,
  name: string,
): Promise<ProxyRecord | undefined> {
  let query = tx
    .updateTable('proxies')
    .set({ name })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(columns)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  return query.executeTakeFirst()
}

export async function keepCheck(
  tx: Db,
  projectId: string,
  id: string,
  { status, ipAddress }: CheckResult,
): Promise<ProxyRecord | undefined> {
  return tx
    .updateTable('proxies')
    .set({
      status,
      last_checked: sql`now()`,
      // A proxy that does not work keeps its last known address.
      ...(status === 'available' && { ip_address: ipAddress ?? null }),
    })
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .returning(columns)
    .executeTakeFirst()
}

/** Removes the secrets at once. */
export async function markProxyDeleted(tx: Db, projectId: string, id: string): Promise<void> {
  await tx
    .updateTable('proxies')
    .set({ deleted_at: sql`now()`, credentials: null, ca_bundle: null, sealed_ca_bundle: null })
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .execute()
}

export async function countLiveProxies(db: Db, projectId: string): Promise<number> {
  const { count } = await db
    .selectFrom('proxies')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}
