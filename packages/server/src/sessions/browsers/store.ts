import { sql } from 'kysely'
import type { EndReason } from '@berth/contracts/browsers'
import type { SaveState } from '@berth/contracts/profiles'
import type { Category } from '@berth/contracts/telemetry-events'
import { newId } from '@berth/kit/ids'
import { containing } from '../../platform/database/like.ts'
import { lookUp } from '../../platform/database/look-up.ts'
import { prepared } from '../../platform/database/prepared.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { Selection } from '../telemetry/selection.ts'
import type { BrowserRecord, NewBrowser, ProxyChange, Viewport } from './types.ts'

const ID = /^[a-z][a-z0-9]{23}$/

export const browserColumns = [
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
  'is_starting',
  'server_id',
  'instance_id',
  'uptime_ms',
  'created_at',
  'deleted_at',
  'end_reason',
  'telemetry',
  'telemetry_version',
  'proxy_id',
  'is_default_proxy_disabled',
  'proxy_version',
  'proxy_applied_version',
  'pool_id',
  'pool_name',
  'tenure',
  'leased_at',
  'released_at',
  'profile_id',
  'profile_version',
  'profile_save_changes',
  'profile_on_conflict',
  'profile_save',
  'profile_saved_version',
  'profile_save_message',
  'invocation_id',
] as const

/** Ends after which there is nothing left to save, or nothing worth it. */
const UNSAVED_ENDS: readonly EndReason[] = ['start_failed', 'crashed', 'out_of_memory', 'lost']
export const isUnsavedAfter = (reason: EndReason) => UNSAVED_ENDS.includes(reason)

export interface Occupancy {
  readonly ofOrganization: number
  readonly ofProject: number
  /** Null: none of its own, and no default either. */
  readonly projectCap: number | null
}

/** Of the pools that a statement selects; one that was made smaller may have more leased than its size. */
export const pooledPlaces = sql<number>`coalesce(sum(greatest(pool.size, (
  SELECT count(*) FROM browsers AS pooled WHERE pooled.pool_id = pool.id AND pooled.deleted_at IS NULL
))), 0)::int`

const lockOrganization = prepared((tx) => tx.selectFrom('organization').select('id').forNoKeyUpdate())

/**
 * Creates count one after another, so that no two take the last place. A pool has the places of its whole size,
 * whether its browsers are there or not: nobody else can take them from it.
 */
export async function lockOccupancy(tx: Db, projectId: string): Promise<Occupancy> {
  // Not waited for: the count travels with it, and is made when the lock is had.
  const locking = lockOrganization(tx)
  locking.catch(() => {})
  const { rows } = await sql<Occupancy>`
    SELECT
      (SELECT count(*)::int FROM browsers WHERE deleted_at IS NULL AND pool_id IS NULL)
        + (SELECT ${pooledPlaces} FROM browser_pools AS pool WHERE deleted_at IS NULL) AS "ofOrganization",
      (SELECT count(*)::int FROM browsers
        WHERE deleted_at IS NULL AND pool_id IS NULL AND project_id = ${projectId})
        + (SELECT ${pooledPlaces} FROM browser_pools AS pool
            WHERE deleted_at IS NULL AND project_id = ${projectId}) AS "ofProject",
      coalesce(
        (SELECT max_concurrent_sessions FROM projects WHERE id = ${projectId}),
        (SELECT default_project_max_concurrent_sessions FROM organization)
      ) AS "projectCap"`.execute(tx)
  await locking
  return rows[0]!
}

/** Of a browser that is made for one. */
export interface PoolRef {
  readonly id: string
  readonly name: string | null
}

/** With its instance, before that is started or shaped: whoever finds the row later knows where to look. */
export async function insertBrowser(
  tx: Db,
  browser: NewBrowser,
  { serverId, instanceId, pool }: { serverId: string; instanceId: string; pool?: PoolRef },
): Promise<BrowserRecord> {
  return tx
    .insertInto('browsers')
    .values({
      id: newId(),
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
      telemetry: browser.telemetry && [...browser.telemetry],
      proxy_id: browser.proxyId,
      ...(pool && { pool_id: pool.id, pool_name: pool.name }),
    })
    .returning(browserColumns)
    .executeTakeFirstOrThrow()
}

/** Undefined when it was ended meanwhile. */
export async function markStarted(tx: Db, id: string): Promise<BrowserRecord | undefined> {
  return tx
    .updateTable('browsers')
    .set({ is_starting: false })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(browserColumns)
    .executeTakeFirst()
}

/**
 * False when it had ended before: the first reason stays. One whose changes are to be saved says from this moment
 * on that they are, so that whoever starts from its profile next knows what to wait for.
 */
export async function markEnded(
  db: Db,
  id: string,
  { reason, uptimeMs }: { reason: EndReason; uptimeMs?: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('browsers')
    .set({
      deleted_at: sql`now()`,
      end_reason: reason,
      is_starting: false,
      ...savingAfter(reason),
      ...(uptimeMs !== undefined && { uptime_ms: String(uptimeMs) }),
    })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** What ends a session also says whether it is being saved from then on. */
export function savingAfter(reason: EndReason) {
  const isWanted = sql`profile_id IS NOT NULL AND profile_save_changes AND NOT is_starting`
  const isUnsaved = isUnsavedAfter(reason)
  const state: SaveState = isUnsaved ? 'failed' : 'saving'
  const message = isUnsaved ? `the session ended as ${reason}` : null
  // The save may be quicker than this: what it says of itself stays.
  const only = sql`profile_save IS NULL AND ${isWanted}`
  return {
    profile_save: sql<SaveState | null>`CASE WHEN ${only} THEN ${state} ELSE profile_save END`,
    profile_save_message: sql<string | null>`CASE WHEN ${only} THEN ${message} ELSE profile_save_message END`,
  }
}

/** All at once, and only what changed: that of a session on standby stands still. */
export async function keepUptimes(db: Db, uptimes: ReadonlyMap<string, number>): Promise<void> {
  await sql`
    UPDATE browsers SET uptime_ms = kept.uptime_ms
    FROM unnest(${[...uptimes.keys()]}::text[], ${[...uptimes.values()]}::bigint[]) AS kept (id, uptime_ms)
    WHERE browsers.id = kept.id AND browsers.uptime_ms <> kept.uptime_ms`.execute(db)
}

/** One that waits in its pool, or ended there, is nobody's session. */
const isShown = sql<boolean>`(pool_id IS NULL OR leased_at IS NOT NULL)`

const live = (db: Db) => db.selectFrom('browsers').select(browserColumns).where('deleted_at', 'is', null)

const findManyById = prepared((db, ids: readonly string[]) =>
  db
    .selectFrom('browsers')
    .select(browserColumns)
    .where('id', '=', (where) => where.fn.any(where.val(ids))),
)
/** By id alone, whatever its project and whether it ended or not: for those who look at both. */
export const findBrowserById = lookUp<BrowserRecord>(
  async (db, ids) => new Map((await findManyById(db, ids)).map((row) => [row.id, row])),
)

/** An id wins over a name that looks like one. Null as the project: in all of them. */
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

export async function listBrowsers(
  db: Db,
  options: {
    projectId: string | null
    status: 'active' | 'deleted' | 'all'
    query?: string
    tags: Readonly<Record<string, string>>
    limit: number
    offset: number
  },
): Promise<BrowserRecord[]> {
  let query = db.selectFrom('browsers').select(browserColumns).where('is_starting', '=', false).where(isShown)
  if (options.projectId !== null) query = query.where('project_id', '=', options.projectId)
  if (options.status === 'active') query = query.where('deleted_at', 'is', null)
  if (options.status === 'deleted') query = query.where('deleted_at', 'is not', null)
  if (options.query) {
    const part = containing(options.query)
    query = query.where((where) =>
      where.or([
        where('name', 'ilike', part),
        where('id', 'ilike', part),
        where('proxy_id', 'ilike', part),
        where('pool_name', 'ilike', part),
        where('profile_id', 'ilike', part),
      ]),
    )
  }
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
  readonly timeoutSeconds?: number
  readonly viewport?: Viewport
  /** Null: nothing is captured any more. */
  readonly telemetry?: Selection
  readonly proxy?: ProxyChange
}

export async function updateBrowser(
  tx: Db,
  id: string,
  { name, tags, timeoutSeconds, viewport, telemetry, proxy }: BrowserChange,
): Promise<BrowserRecord | undefined> {
  return tx
    .updateTable('browsers')
    .set({
      // Set even when nothing else is, as an update of nothing is no statement.
      id,
      ...(name !== undefined && { name }),
      ...(tags && { tags: JSON.stringify(tags) }),
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
    .where('deleted_at', 'is', null)
    .returning(browserColumns)
    .executeTakeFirst()
}

/** Said by the server that has the session, when its traffic leaves as the row said then. */
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
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/** Those of this server that have not ended, for taking up what an earlier run of it left. */
export async function listOfServer(db: Db, serverId: string): Promise<BrowserRecord[]> {
  return live(db).where('server_id', '=', serverId).execute()
}

/** Those of this server that have ended and are not saved yet. */
export async function listUnsaved(db: Db, serverId: string): Promise<BrowserRecord[]> {
  return db
    .selectFrom('browsers')
    .select(browserColumns)
    .where('server_id', '=', serverId)
    .where('profile_save', '=', 'saving')
    .execute()
}

/** Those of servers that nobody has heard of for so long that their instances have ended themselves. */
export async function listOfLostServers(db: Db, silentSeconds: number): Promise<BrowserRecord[]> {
  return live(db)
    .where('server_id', 'in', (where) =>
      where
        .selectFrom('servers')
        .select('id')
        .where(sql<boolean>`seen_at < now() - make_interval(secs => ${silentSeconds})`),
    )
    .execute()
}

/** Active ones that were created with the id of an invocation. */
export async function listOfInvocation(
  db: Db,
  projectId: string,
  invocationId: string,
): Promise<BrowserRecord[]> {
  return live(db)
    .where('project_id', '=', projectId)
    .where('invocation_id', '=', invocationId)
    .where('is_starting', '=', false)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/** Its address is null until it listens. */
export async function sawServer(db: Db, server: { id: string; address: string | null }): Promise<void> {
  const { id, address } = server
  await db
    .insertInto('servers')
    .values({ id, address })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: sql`now()`, address }))
    .execute()
}

/** Where to reach the server that has a session; undefined when the session has ended. */
export async function findOwner(
  db: Db,
  sessionId: string,
): Promise<{ address: string; telemetry: Category[] | null; tenure: number } | undefined> {
  return db
    .selectFrom('browsers')
    .innerJoin('servers', 'servers.id', 'browsers.server_id')
    .select(['servers.address', 'browsers.telemetry', 'browsers.tenure'])
    .$narrowType<{ address: string }>()
    .where('browsers.id', '=', sessionId)
    .where('browsers.deleted_at', 'is', null)
    .where('browsers.is_starting', '=', false)
    .where('servers.address', 'is not', null)
    .executeTakeFirst()
}

export async function countLiveBrowsers(db: Db, projectId: string): Promise<number> {
  const { count } = await db
    .selectFrom('browsers')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}
