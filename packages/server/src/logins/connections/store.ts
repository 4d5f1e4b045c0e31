import { sql, type Insertable, type Updateable } from 'kysely'
import { newId } from '@berth/kit/ids'
import type { CredentialUse } from '../credentials/types.ts'
import { announceChange } from '../../platform/database/changes.ts'
import { containing } from '../../platform/database/like.ts'
import type { AuthConnectionsTable, Db } from '../../platform/database/schema.ts'
import type { ConnectionRecord } from './types.ts'

const columns = [
  'auth_connections.id',
  'auth_connections.project_id',
  'auth_connections.domain',
  'auth_connections.profile_id',
  'auth_connections.status',
  'auth_connections.allowed_domains',
  'auth_connections.redirect_urls',
  'auth_connections.login_url',
  'auth_connections.learned_login_url',
  'auth_connections.post_login_url',
  'auth_connections.credential',
  'auth_connections.proxy_id',
  'auth_connections.proxy_mode',
  'auth_connections.stealth',
  'auth_connections.save_credentials',
  'auth_connections.record_session',
  'auth_connections.health_checks',
  'auth_connections.health_check_interval',
  'auth_connections.auto_reauth',
  'auth_connections.telemetry',
  'auth_connections.telemetry_age',
  'auth_connections.memory',
  'auth_connections.sealed_captcha_solver',
  'auth_connections.has_plan',
  'auth_connections.requirements',
  'auth_connections.sso_provider',
  'auth_connections.last_success_at',
  'auth_connections.last_auth_check_at',
  'auth_connections.is_reauth_stopped',
  'auth_connections.next_check_at',
  'auth_connections.checked_by',
  'auth_connections.checked_until',
  'auth_connections.flow_id',
  'auth_connections.created_at',
  'auth_connections.deleted_at',
] as const

const all = (db: Db) =>
  db
    .selectFrom('auth_connections')
    .innerJoin('profiles', 'profiles.id', 'auth_connections.profile_id')
    .select(columns)
    .select(sql<string>`coalesce(profiles.name, profiles.id)`.as('profile_name'))

export type ConnectionChange = Updateable<AuthConnectionsTable>

/** Undefined when the pair already has a connection. */
export async function insertConnection(
  tx: Db,
  connection: Omit<Insertable<AuthConnectionsTable>, 'id'> & { readonly id?: string },
): Promise<string | undefined> {
  const row = await tx
    .insertInto('auth_connections')
    .values({ id: newId(), ...connection })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** A null project means all projects. Also finds a deleted connection. */
export async function findConnection(
  db: Db,
  projectId: string | null,
  id: string,
): Promise<ConnectionRecord | undefined> {
  let query = all(db).where('auth_connections.id', '=', id)
  if (projectId !== null) query = query.where('auth_connections.project_id', '=', projectId)
  return query.executeTakeFirst()
}

/** Until the transaction ends, nobody else can change it or start a flow of it. */
export async function lockConnection(tx: Db, id: string): Promise<ConnectionRecord | undefined> {
  return all(tx)
    .where('auth_connections.id', '=', id)
    .where('auth_connections.deleted_at', 'is', null)
    .forNoKeyUpdate('auth_connections')
    .executeTakeFirst()
}

export async function findPair(
  db: Db,
  { profileId, domain }: { profileId: string; domain: string },
): Promise<string | undefined> {
  const row = await db
    .selectFrom('auth_connections')
    .select('id')
    .where('profile_id', '=', profileId)
    .where('domain', '=', domain)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row?.id
}

export async function listConnections(
  db: Db,
  projectId: string | null,
  options: { profileName?: string; domain?: string; query?: string; limit: number; offset: number },
): Promise<ConnectionRecord[]> {
  const { profileName, domain, query: part, limit, offset } = options
  let query = all(db).where('auth_connections.deleted_at', 'is', null)
  if (projectId !== null) query = query.where('auth_connections.project_id', '=', projectId)
  if (profileName !== undefined) query = query.where('profiles.name', '=', profileName)
  if (domain !== undefined) query = query.where('auth_connections.domain', '=', domain)
  if (part) {
    const pattern = containing(part)
    query = query.where((where) =>
      where.or([
        where('auth_connections.id', 'ilike', pattern),
        where('auth_connections.domain', 'ilike', pattern),
        where('profiles.name', 'ilike', pattern),
      ]),
    )
  }
  return query
    .orderBy('auth_connections.created_at', 'desc')
    .orderBy('auth_connections.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
}

export async function updateConnection(tx: Db, id: string, change: ConnectionChange): Promise<void> {
  if (Object.keys(change).length > 0) {
    await tx.updateTable('auth_connections').set(change).where('id', '=', id).execute()
  }
  await announceChange(tx, 'connectionChanged', { connectionId: id, serverId: '' })
}

/** Finds or creates the profile with that name. */
export async function profileNamed(tx: Db, projectId: string, name: string): Promise<string> {
  const find = () =>
    tx
      .selectFrom('profiles')
      .select('id')
      .where('project_id', '=', projectId)
      .where('name', '=', name)
      .where('deleted_at', 'is', null)
      // It cannot be deleted before this transaction ends.
      .forShare()
      .executeTakeFirst()
  for (;;) {
    const found = await find()
    if (found) return found.id
    const made = await tx
      .insertInto('profiles')
      .values({ id: newId(), project_id: projectId, name })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst()
    if (made) return made.id
  }
}

export async function countConnections(db: Db, projectId: string): Promise<number> {
  return count(db, sql`project_id = ${projectId}`)
}

/** Null for all projects. */
export async function countConnectionsIn(db: Db, projectId: string | null): Promise<number> {
  return count(db, projectId === null ? sql`true` : sql`project_id = ${projectId}`)
}

export async function countUsingProxy(db: Db, proxyId: string): Promise<number> {
  return count(db, sql`proxy_id = ${proxyId}`)
}

export async function countUsingProfile(db: Db, profileId: string): Promise<number> {
  return count(db, sql`profile_id = ${profileId}`)
}

async function count(db: Db, which: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM auth_connections WHERE deleted_at IS NULL AND ${which}`.execute(db)
  return rows[0]!.count
}

/** Connections follow a renamed credential, and continue without a deleted one. */
export const credentialUse: CredentialUse = {
  renamed: async (tx, projectId, { from, to }) => {
    await usingCredential(tx, projectId, from)
      .set({ credential: JSON.stringify({ name: to }) })
      .execute()
  },
  deleted: async (tx, projectId, name) => {
    await usingCredential(tx, projectId, name).set({ credential: null }).execute()
  },
}

function usingCredential(tx: Db, projectId: string, name: string) {
  return tx
    .updateTable('auth_connections')
    .where('project_id', '=', projectId)
    .where(sql<string>`credential->>'name'`, '=', name)
}

export interface CheckClaim {
  readonly serverId: string
  readonly seconds: number
}

/** Claims a due connection for this server: projects take turns, those with fewer checks under way first. */
export async function claimDue(db: Db, { serverId, seconds }: CheckClaim): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    UPDATE auth_connections SET checked_by = ${serverId},
      checked_until = now() + make_interval(secs => ${seconds})
    WHERE id = (
      SELECT id FROM auth_connections AS due
      WHERE deleted_at IS NULL AND health_checks AND memory IS NOT NULL AND next_check_at <= now()
        AND (checked_until IS NULL OR checked_until < now())
      ORDER BY (SELECT count(*) FROM auth_connections AS other
        WHERE other.project_id = due.project_id AND other.checked_until >= now()), next_check_at
      LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
    RETURNING id`.execute(db)
  return rows[0]?.id
}

/** Claims this connection; false when another server is checking it. */
export async function claimCheck(db: Db, id: string, { serverId, seconds }: CheckClaim): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    UPDATE auth_connections SET checked_by = ${serverId},
      checked_until = now() + make_interval(secs => ${seconds})
    WHERE id = ${id} AND deleted_at IS NULL AND (checked_until IS NULL OR checked_until < now())
    RETURNING id`.execute(db)
  return rows.length > 0
}

/** Seconds until the next check is due; null when none is scheduled. */
export async function nextDueInSeconds(db: Db): Promise<number | null> {
  const { rows } = await sql<{ seconds: number | null }>`
    SELECT extract(epoch FROM min(greatest(next_check_at, coalesce(checked_until, next_check_at))) - now())::float8
      AS seconds
    FROM auth_connections
    WHERE deleted_at IS NULL AND health_checks AND memory IS NOT NULL AND next_check_at IS NOT NULL`.execute(
    db,
  )
  return rows[0]?.seconds ?? null
}

/** Drops the claims of an earlier run of this server. */
export async function dropClaimsOf(db: Db, serverId: string): Promise<void> {
  await db
    .updateTable('auth_connections')
    .set({ checked_by: null, checked_until: null })
    .where('checked_by', '=', serverId)
    .execute()
}
