import { sql, type Insertable } from 'kysely'
import type { Category } from '@berth/contracts/telemetry-events'
import { containing } from '../../platform/database/like.ts'
import { lookUp } from '../../platform/database/look-up.ts'
import { prepared } from '../../platform/database/prepared.ts'
import type { BrowsersTable, Db } from '../../platform/database/schema.ts'
import type { Selection } from '../telemetry/selection.ts'
import { browserColumns } from './columns.ts'
import { INITIAL_STATE, isLiveRow, isUsableRow } from './state.ts'
import type { BrowserRecord, NewBrowser, ProxyChange, Viewport } from './types.ts'

const ID = /^[a-z][a-z0-9]{23}$/
/** A server that was silent for longer may be gone, so nothing is given to it. They say every 10 seconds that they are there. */
export const HEARD_WITHIN_SECONDS = 25
const MAX_SERVERS_WITH_ROOM = 50

export interface Occupancy {
  readonly ofOrganization: number
  readonly ofProject: number
  /** Null when neither the project nor the organisation sets a limit. */
  readonly projectCap: number | null
}

/** Places of the selected pools. A pool that was made smaller may have more live browsers than its size. */
export const pooledPlaces = sql<number>`coalesce(sum(greatest(pool.size, (
  SELECT count(*) FROM browsers AS pooled WHERE pooled.pool_id = pool.id AND ${isLiveRow('pooled')}
))), 0)::int`

/** There is one. */
const lockOrganization = prepared((tx) =>
  tx.selectFrom('organization').select('id').where('id', '=', 'org').forNoKeyUpdate(),
)

/**
 * The lock makes creates count one after another, so that no two take the last place. A pool reserves places for its
 * full size, even while its browsers are not there.
 */
export async function lockOccupancy(tx: Db, projectId: string): Promise<Occupancy> {
  // Not awaited yet: the count is pipelined behind the lock and runs once the lock is held.
  const locking = lockOrganization(tx)
  locking.catch(() => {})
  const occupancy = await readOccupancy(tx, projectId)
  await locking
  return occupancy
}

/**
 * Without the lock: it may be out of date at once. Null for no project. All creates wait for this one after another, so it
 * goes through the sessions only once.
 */
export async function readOccupancy(db: Db, projectId: string | null): Promise<Occupancy> {
  const { rows } = await occupancyOf(projectId).execute(db)
  return rows[0]!
}

const occupancyOf = (projectId: string | null) => sql<Occupancy>`
    SELECT
      apart.of_organization
        + (SELECT ${pooledPlaces} FROM browser_pools AS pool WHERE deleted_at IS NULL) AS "ofOrganization",
      apart.of_project
        + (SELECT ${pooledPlaces} FROM browser_pools AS pool
            WHERE deleted_at IS NULL AND project_id = ${projectId}) AS "ofProject",
      coalesce(
        (SELECT max_concurrent_sessions FROM projects WHERE id = ${projectId}),
        (SELECT default_project_max_concurrent_sessions FROM organization)
      ) AS "projectCap"
    FROM (
      SELECT count(*)::int AS of_organization, count(*) FILTER (WHERE project_id = ${projectId})::int AS of_project
      FROM browsers WHERE ${isLiveRow()} AND pool_id IS NULL
    ) AS apart`

/** The pool that a browser is created for. */
export interface PoolRef {
  readonly id: string
  readonly name: string | null
}

interface NewIds {
  readonly id: string
  readonly serverId: string
  readonly instanceId: string
}

/** Stores the instance id before the instance starts, so that a cleanup can find the instance through the row. */
export async function insertBrowser(
  tx: Db,
  browser: NewBrowser,
  { pool, ...ids }: NewIds & { pool?: PoolRef },
): Promise<BrowserRecord> {
  return tx
    .insertInto('browsers')
    .values({ ...toRow(browser, ids), ...(pool && { pool_id: pool.id, pool_name: pool.name }) })
    .returning(browserColumns)
    .executeTakeFirstOrThrow()
}

/**
 * The same for a session without a pool, within the limits; undefined when one of them is reached. Creates that do this at
 * once count one after another. It needs a transaction, in which nothing has to wait for its answers.
 */
export async function insertBrowserIfRoom(
  tx: Db,
  browser: NewBrowser,
  { maxSessions, ...ids }: NewIds & { maxSessions: number },
): Promise<BrowserRecord | undefined> {
  // Not awaited: the insert is sent behind the lock and runs once the lock is held.
  const locking = lockOrganization(tx)
  const row = toRow(browser, ids)
  const inserting = insertIfRoom(tx, browser.projectId, maxSessions, ...rowColumns.map((name) => row[name]))
  const [, [inserted]] = await Promise.all([locking, inserting])
  return inserted
}

const insertIfRoom = prepared((_db, projectId: string, maxSessions: number, ...values: unknown[]) => {
  return sql<BrowserRecord>`
    INSERT INTO browsers (${sql.join(rowColumns.map((name) => sql.ref(name)))})
    SELECT ${sql.join(values)} FROM (${occupancyOf(projectId)}) AS taken
    WHERE taken."ofOrganization" < ${maxSessions}
      AND (taken."projectCap" IS NULL OR taken."ofProject" < taken."projectCap")
    RETURNING ${sql.join(browserColumns.map((name) => sql.ref(name)))}`
})

/** What a create writes. */
const rowColumns = [
  'id',
  'project_id',
  'name',
  'tags',
  'headless',
  'stealth',
  'gpu',
  'kiosk_mode',
  'timeout_seconds',
  'standby_after_seconds',
  'viewport_width',
  'viewport_height',
  'viewport_refresh_rate',
  'start_url',
  'locale',
  'timezone',
  'has_chrome_policy',
  'server_id',
  'instance_id',
  'state',
  'telemetry',
  'proxy_id',
  'is_default_proxy_disabled',
  'region',
  'memory_mb',
  'private_hosts',
] as const

type NewRow = Required<Pick<Insertable<BrowsersTable>, (typeof rowColumns)[number]>>

function toRow(browser: NewBrowser, { id, serverId, instanceId }: NewIds): NewRow {
  return {
    id,
    project_id: browser.projectId,
    name: browser.name,
    tags: JSON.stringify(browser.tags),
    headless: browser.headless,
    stealth: browser.stealth,
    gpu: browser.gpu,
    kiosk_mode: browser.kioskMode,
    timeout_seconds: browser.timeoutSeconds,
    standby_after_seconds: browser.standbyAfterSeconds,
    viewport_width: browser.viewport.width,
    viewport_height: browser.viewport.height,
    viewport_refresh_rate: browser.viewport.refreshRate,
    start_url: browser.startUrl,
    locale: browser.locale,
    timezone: browser.timezone,
    has_chrome_policy: browser.hasChromePolicy,
    server_id: serverId,
    instance_id: instanceId,
    state: INITIAL_STATE,
    telemetry: browser.telemetry && [...browser.telemetry],
    proxy_id: browser.proxyId,
    is_default_proxy_disabled: browser.isDefaultProxyDisabled,
    region: browser.region,
    memory_mb: browser.memoryMb,
    private_hosts: browser.privateHosts && [...browser.privateHosts],
  }
}

/** Writes all in one statement, and only changes: the uptime of a session on standby does not change. */
export interface SessionUse {
  readonly id: string
  readonly uptimeMs: number
  readonly depth: 'light' | 'deep' | undefined
  readonly residentBytes: number | undefined
  readonly lastWakeMs: number | undefined
}

export async function keepUse(db: Db, uses: readonly SessionUse[]): Promise<void> {
  const all = <Key extends keyof SessionUse>(key: Key) => uses.map((use) => use[key] ?? null)
  await sql`
    UPDATE browsers
    SET uptime_ms = kept.uptime_ms, standby_depth = kept.depth, resident_bytes = kept.bytes,
      last_wake_ms = coalesce(kept.wake_ms, browsers.last_wake_ms)
    FROM unnest(${all('id')}::text[], ${all('uptimeMs')}::bigint[], ${all('depth')}::text[],
      ${all('residentBytes')}::bigint[], ${all('lastWakeMs')}::integer[])
      AS kept (id, uptime_ms, depth, bytes, wake_ms)
    WHERE browsers.id = kept.id AND (browsers.uptime_ms <> kept.uptime_ms
      OR browsers.standby_depth IS DISTINCT FROM kept.depth
      OR browsers.resident_bytes IS DISTINCT FROM kept.bytes)`.execute(db)
}

/** Hides browsers that wait in their pool or ended there. */
const isShown = sql<boolean>`(pool_id IS NULL OR leased_at IS NOT NULL)`

const live = (db: Db) => db.selectFrom('browsers').select(browserColumns).where(isLiveRow())

const findManyById = prepared((db, ids: readonly string[]) =>
  db
    .selectFrom('browsers')
    .select(browserColumns)
    .where('id', '=', (where) => where.fn.any(where.val(ids))),
)
/** Ignores project and state; the caller checks both. */
export const findBrowserById = lookUp<BrowserRecord>(
  async (db, ids) => new Map((await findManyById(db, ids)).map((row) => [row.id, row])),
)

/** An id wins over a name that looks like one. A null project searches all projects. */
export async function findBrowser(
  db: Db,
  projectId: string | null,
  idOrName: string,
): Promise<BrowserRecord | undefined> {
  if (ID.test(idOrName)) {
    const byId = await findBrowserById(db, idOrName)
    const isSeen = byId && (projectId === null || byId.project_id === projectId)
    if (isSeen && (byId.pool_id === null || byId.leased_at !== null)) return byId
  }
  let query = live(db).where('name', '=', idOrName).where(isShown)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').executeTakeFirst()
}

export interface RegionFilter {
  readonly asked: string
  /** That of rows from before there were regions. */
  readonly own: string
}

export function isInRegion(table: 'browsers' | 'browser_pools', { asked, own }: RegionFilter) {
  return sql<boolean>`coalesce(${sql.ref(`${table}.region`)}, ${own}) = ${asked}`
}

export async function listBrowsers(
  db: Db,
  options: {
    projectId: string | null
    status: 'active' | 'deleted' | 'all'
    query?: string
    region?: RegionFilter
    tags: Readonly<Record<string, string>>
    limit: number
    offset: number
  },
): Promise<BrowserRecord[]> {
  let query = db.selectFrom('browsers').select(browserColumns).where('state', '<>', 'starting').where(isShown)
  if (options.projectId !== null) query = query.where('project_id', '=', options.projectId)
  if (options.status === 'active') query = query.where(isLiveRow())
  if (options.status === 'deleted') query = query.where('state', 'in', ['ending', 'ended'])
  if (options.query) {
    const part = containing(options.query)
    query = query.where((where) =>
      where.or([
        where('name', 'ilike', part),
        where('id', 'ilike', part),
        where('proxy_id', 'ilike', part),
        where('pool_name', 'ilike', part),
        where('pool_id', '=', options.query!),
        where('profile_id', 'ilike', part),
        where.exists(
          where
            .selectFrom('profiles')
            .select('profiles.id')
            .whereRef('profiles.id', '=', 'browsers.profile_id')
            .where('profiles.name', 'ilike', part),
        ),
      ]),
    )
  }
  if (options.region) query = query.where(isInRegion('browsers', options.region))
  if (Object.keys(options.tags).length > 0) {
    query = query.where(sql<boolean>`tags @> ${JSON.stringify(options.tags)}::jsonb`)
  }
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(options.limit)
    .offset(options.offset)
    .execute()
}

export interface BrowserChange {
  readonly name?: string | null
  readonly tags?: Readonly<Record<string, string>>
  readonly startUrl?: string | null
  readonly timeoutSeconds?: number
  readonly viewport?: Viewport
  /** Null stops the capture. */
  readonly telemetry?: Selection
  readonly proxy?: ProxyChange
}

export async function updateBrowser(
  tx: Db,
  id: string,
  { name, tags, startUrl, timeoutSeconds, viewport, telemetry, proxy }: BrowserChange,
): Promise<BrowserRecord | undefined> {
  return tx
    .updateTable('browsers')
    .set({
      // Always set, because an UPDATE without columns is invalid SQL.
      id,
      ...(name !== undefined && { name }),
      ...(tags && { tags: JSON.stringify(tags) }),
      ...(startUrl !== undefined && { start_url: startUrl }),
      ...(timeoutSeconds !== undefined && { timeout_seconds: timeoutSeconds }),
      ...(viewport && {
        viewport_width: viewport.width,
        viewport_height: viewport.height,
        viewport_refresh_rate: viewport.refreshRate,
      }),
      ...(telemetry !== undefined && {
        telemetry: telemetry && [...telemetry],
        telemetry_version: sql<number>`telemetry_version + 1`,
      }),
      ...(proxy && {
        ...(proxy.proxyId !== undefined && { proxy_id: proxy.proxyId }),
        ...(proxy.isDefaultProxyDisabled !== undefined && {
          is_default_proxy_disabled: proxy.isDefaultProxyDisabled,
        }),
        proxy_version: sql<number>`proxy_version + 1`,
      }),
    })
    .where('id', '=', id)
    .where(isLiveRow())
    .returning(browserColumns)
    .executeTakeFirst()
}

/** Of all sessions of which something is left: what a follower of changes has to hear of. Kept small, as it is read often. */
export async function liveBrowserStates(db: Db): Promise<{ id: string; projectId: string; state: string }[]> {
  return db
    .selectFrom('browsers')
    .select([
      'id',
      'project_id as projectId',
      sql<string>`state || ' ' || lease_number || ' ' || coalesce(profile_save, '')`.as('state'),
    ])
    .where('ended_at', 'is', null)
    .execute()
}

/** Called by the session's server once its traffic uses this version of the proxy setting. */
export async function markProxyApplied(db: Db, id: string, version: number): Promise<void> {
  await db
    .updateTable('browsers')
    .set({ proxy_applied_version: sql`greatest(proxy_applied_version, ${version})` })
    .where('id', '=', id)
    .execute()
}

export async function countUsingProxy(tx: Db, proxyId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('browsers')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('proxy_id', '=', proxyId)
    .where(isLiveRow())
    .executeTakeFirstOrThrow()
  return count
}

/** Active sessions that export their telemetry to this destination. */
export async function countExportingTo(tx: Db, destinationId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('browsers')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('telemetry_destination_id', '=', destinationId)
    .where(isLiveRow())
    .executeTakeFirstOrThrow()
  return count
}

const unended = (db: Db) => db.selectFrom('browsers').select(browserColumns).where('ended_at', 'is', null)

/** Sessions of this server that are not fully cleaned up. */
export async function listOfServer(db: Db, serverId: string): Promise<BrowserRecord[]> {
  return unended(db).where('server_id', '=', serverId).execute()
}

/** Sessions of this server that are ending and not fully cleaned up. */
export async function listEnding(db: Db, serverId: string): Promise<BrowserRecord[]> {
  return unended(db).where('server_id', '=', serverId).where('state', '=', 'ending').execute()
}

/** Other servers that have been silent for so long and have sessions. There are usually none. */
async function listSilentServers(
  db: Db,
  { serverId, silentSeconds }: { serverId: string; silentSeconds: number },
): Promise<string[]> {
  const silent = await db
    .selectFrom('servers')
    .select('id')
    .where('id', '<>', serverId)
    .where(isSilent(silentSeconds))
    .where((where) =>
      where.exists(
        where
          .selectFrom('browsers')
          .select('browsers.id')
          .whereRef('browsers.server_id', '=', 'servers.id')
          .where('browsers.ended_at', 'is', null),
      ),
    )
    .orderBy('id')
    .execute()
  return silent.map(({ id }) => id)
}

const isSilent = (seconds: number) =>
  sql<boolean>`servers.seen_at < now() - make_interval(secs => ${seconds})`

/** Sessions of servers that have been silent so long that their instances have ended themselves. */
export async function listOfLostServers(
  db: Db,
  wanted: { serverId: string; silentSeconds: number },
): Promise<BrowserRecord[]> {
  const lost: BrowserRecord[] = []
  for (const id of await listSilentServers(db, wanted)) lost.push(...(await listOfServer(db, id)))
  return lost
}

/**
 * Makes this server the one of sessions whose server has been silent for so long. Servers that do this at once share them.
 * Clients of other servers are told where the sessions are now. All servers ask this all the time, so it must not look at
 * sessions whose server is there: servers are few, and of a server the index knows the sessions.
 */
export async function takeOverSessions(
  db: Db,
  { serverId, silentSeconds, limit }: { serverId: string; silentSeconds: number; limit: number },
): Promise<BrowserRecord[]> {
  const taken: BrowserRecord[] = []
  for (const silent of await listSilentServers(db, { serverId, silentSeconds })) {
    if (taken.length === limit) break
    taken.push(...(await takeFrom(db, silent, { serverId, silentSeconds, limit: limit - taken.length })))
  }
  return taken
}

async function takeFrom(
  db: Db,
  silent: string,
  { serverId, silentSeconds, limit }: { serverId: string; silentSeconds: number; limit: number },
): Promise<BrowserRecord[]> {
  return db
    .updateTable('browsers')
    .set({ server_id: serverId })
    .where('id', 'in', (where) =>
      where
        .selectFrom('browsers as left')
        .innerJoin('servers', 'servers.id', 'left.server_id')
        .select('left.id')
        .where('left.ended_at', 'is', null)
        .where('left.server_id', '=', silent)
        // It may be back.
        .where(isSilent(silentSeconds))
        .limit(limit)
        .forUpdate('left')
        .skipLocked(),
    )
    .returning(browserColumns)
    .execute()
}

/** From now on, the server counts as silent for so long. */
export async function sawServerLeave(db: Db, serverId: string, silentSeconds: number): Promise<void> {
  await db
    .updateTable('servers')
    .set({ seen_at: sql`now() - make_interval(secs => ${silentSeconds + 1})` })
    .where('id', '=', serverId)
    .execute()
}

/** Active sessions that were created with the id of this invocation. */
export async function listOfInvocation(
  db: Db,
  projectId: string,
  invocationId: string,
): Promise<BrowserRecord[]> {
  return live(db)
    .where('project_id', '=', projectId)
    .where('invocation_id', '=', invocationId)
    .where('state', '<>', 'starting')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

export interface SeenServer {
  readonly id: string
  /** Null until the server listens. */
  readonly address: string | null
  readonly region: string
  /** How many more sessions it takes; null when it takes none of other servers. */
  readonly room: number | null
}

export async function sawServer(db: Db, { id, ...said }: SeenServer): Promise<void> {
  await db
    .insertInto('servers')
    .values({ id, ...said })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: sql`now()`, ...said }))
    .execute()
}

export interface ServerWithRoom {
  readonly id: string
  readonly address: string
  readonly room: number
  /** When it said so. */
  readonly seen_at: string
}

/** Other servers of the region that were heard lately and had room then. */
export async function listServersWithRoom(
  db: Db,
  { serverId, region }: { serverId: string; region: string },
): Promise<ServerWithRoom[]> {
  return db
    .selectFrom('servers')
    .select(['id', 'address', 'room', 'seen_at'])
    .$narrowType<{ address: string; room: number }>()
    .where('id', '<>', serverId)
    .where('region', '=', region)
    .where('room', '>', 0)
    .where('address', 'is not', null)
    .where(sql<boolean>`seen_at > now() - make_interval(secs => ${sql.lit(HEARD_WITHIN_SECONDS)})`)
    .orderBy('room', 'desc')
    .orderBy('id')
    .limit(MAX_SERVERS_WITH_ROOM)
    .execute()
}

interface Owner {
  readonly address: string
  readonly project_id: string
  readonly telemetry: Category[] | null
  readonly lease_number: number
}

/** The address of the server that runs a session; undefined when the session has ended. */
export async function findOwner(db: Db, sessionId: string): Promise<Owner | undefined> {
  return db
    .selectFrom('browsers')
    .innerJoin('servers', 'servers.id', 'browsers.server_id')
    .select(['servers.address', 'browsers.project_id', 'browsers.telemetry', 'browsers.lease_number'])
    .$narrowType<{ address: string }>()
    .where('browsers.id', '=', sessionId)
    .where(isUsableRow())
    .where('servers.address', 'is not', null)
    .executeTakeFirst()
}

export async function countLiveBrowsers(db: Db, projectId: string): Promise<number> {
  const { count } = await db
    .selectFrom('browsers')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('project_id', '=', projectId)
    .where(isLiveRow())
    .executeTakeFirstOrThrow()
  return count
}

/** Links that exist stop working; the recordings stay. */
export async function revokeReplayLinks(tx: Db, browserId: string): Promise<void> {
  await tx
    .updateTable('replays')
    .set({ links_valid_from: sql`now()` })
    .where('browser_id', '=', browserId)
    .execute()
}

/** The row as it is now, locked until the transaction ends. */
export async function lockBrowser(tx: Db, id: string): Promise<BrowserRecord | undefined> {
  return tx
    .selectFrom('browsers')
    .select(browserColumns)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
}
