// The rows of pooled browsers: waiting, leased and missing ones.
import { sql } from 'kysely'
import type { EndReason } from '@berth/contracts/browsers'
import { browserColumns } from '../browsers/columns.ts'
import { isLiveRow, isUsableRow, transitionAll } from '../browsers/state.ts'
import { HEARD_WITHIN_SECONDS } from '../browsers/store.ts'
import type { BrowserRecord } from '../browsers/types.ts'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import { bindExport } from '../telemetry/export/bindings.ts'
import type { Selection } from '../telemetry/selection.ts'
import type { PoolRecord } from './types.ts'

/**
 * Browsers of a server that has been silent this long are not leased, because they may be gone. They count as lost
 * only later. Servers report every 10 seconds.
 */

/** How many keys a browser remembers. */
const MAX_LEASE_KEYS = 50

/**
 * The number of browsers that a selected pool may start now. Each minute allows the fill rate, rounded up, plus one for
 * each browser that ended after use or was discarded. A failed start does not count. A browser that crashed while it
 * waited does count, so that a pool whose browsers crash does not restart them all the time.
 */
const allowance = sql<number>`(
  ceil(pool.size * pool.fill_rate_per_minute / 100.0)
  - (SELECT count(*) FROM browsers AS made WHERE made.pool_id = pool.id
      AND made.created_at > now() - interval '1 minute' AND made.end_reason IS DISTINCT FROM 'start_failed')
  + (SELECT count(*) FROM browsers AS gone WHERE gone.pool_id = pool.id
      AND gone.deleted_at > now() - interval '1 minute' AND gone.end_reason <> 'start_failed'
      AND (gone.leased_at IS NOT NULL OR gone.end_reason NOT IN ('crashed', 'out_of_memory')))
)`
const missing = sql<number>`(pool.size - (
  SELECT count(*) FROM browsers AS present WHERE present.pool_id = pool.id AND ${isLiveRow('present')}))`

export interface ShortPool {
  readonly id: string
  readonly projectId: string
  /** Whether the fill rate allows another browser now. */
  readonly mayGrow: boolean
}

/** Pools of a region that have fewer browsers than their size; pools without a waiting browser come first. */
export async function listShortPools(db: Db, region: string): Promise<ShortPool[]> {
  const { rows } = await sql<ShortPool>`
    SELECT pool.id, pool.project_id AS "projectId", ${allowance} > 0 AS "mayGrow"
    FROM browser_pools AS pool JOIN projects ON projects.id = pool.project_id
    WHERE pool.deleted_at IS NULL AND pool.fill_rate_per_minute > 0 AND projects.status = 'active'
      AND (pool.region = ${region} OR pool.region IS NULL) AND ${missing} > 0
    ORDER BY EXISTS (SELECT 1 FROM browsers AS idle WHERE idle.pool_id = pool.id AND ${isLiveRow('idle')}
      AND idle.leased_at IS NULL), pool.created_at`.execute(db)
  return rows
}

/** The caller must have locked the pool. */
export async function hasRoom(tx: Db, poolId: string): Promise<boolean> {
  const { rows } = await sql<{ hasRoom: boolean }>`
    SELECT ${missing} > 0 AND pool.fill_rate_per_minute > 0 AND ${allowance} > 0 AS "hasRoom"
    FROM browser_pools AS pool WHERE pool.id = ${poolId}`.execute(tx)
  return rows[0]?.hasRoom ?? false
}

/** True when the pool became smaller and has more browsers than its size. */
export async function isCrowded(tx: Db, poolId: string): Promise<boolean> {
  const { rows } = await sql<{ isCrowded: boolean }>`
    SELECT ${missing} < 0 AS "isCrowded" FROM browser_pools AS pool WHERE pool.id = ${poolId}`.execute(tx)
  return rows[0]?.isCrowded ?? true
}

export interface IdleOptions {
  /** Browsers on this server come first, because they are closer. */
  readonly serverId: string
  /** How many callers come first. */
  readonly ahead: number
}

/** Finds and locks the browser that has waited longest. */
export async function findIdle(
  tx: Db,
  poolId: string,
  { serverId, ahead }: IdleOptions,
): Promise<BrowserRecord | undefined> {
  return tx
    .selectFrom('browsers')
    .innerJoin('servers', 'servers.id', 'browsers.server_id')
    .select(browserColumns.map((column) => `browsers.${column}` as const))
    .where('pool_id', '=', poolId)
    .where(isUsableRow())
    .where('leased_at', 'is', null)
    .where(sql<boolean>`servers.seen_at > now() - make_interval(secs => ${sql.lit(HEARD_WITHIN_SECONDS)})`)
    .orderBy(sql`browsers.server_id = ${serverId}`, 'desc')
    .orderBy(sql`coalesce(browsers.released_at, browsers.created_at)`)
    .orderBy('browsers.id')
    .limit(1)
    .offset(ahead)
    .forNoKeyUpdate('browsers')
    .skipLocked()
    .executeTakeFirst()
}

/** True when a waiter should try: a browser waits, or the pool was deleted. */
export async function isWorthTrying(db: Db, poolId: string): Promise<boolean> {
  const { rows } = await sql<{ isWorthTrying: boolean }>`
    SELECT pool.deleted_at IS NOT NULL OR EXISTS (
      SELECT 1 FROM browsers AS idle WHERE idle.pool_id = pool.id AND ${isUsableRow('idle')}
        AND idle.leased_at IS NULL
    ) AS "isWorthTrying" FROM browser_pools AS pool WHERE pool.id = ${poolId}`.execute(db)
  return rows[0]?.isWorthTrying ?? true
}

export interface Lease {
  readonly name: string | null
  readonly tags: Readonly<Record<string, string>>
  readonly timeoutSeconds: number
  /** Undefined keeps the current one. */
  readonly startUrl: string | undefined
  readonly telemetry: Selection | undefined
  /** The key that leases it. */
  readonly keyId: string
}

/** A browser that many keys lease forgets the earlier ones, which must then name the lease they mean. */
const keptKeys = sql`CASE WHEN (SELECT count(*) FROM jsonb_object_keys(lease_keys)) < ${sql.lit(MAX_LEASE_KEYS)}
  THEN lease_keys ELSE '{}' END`

export async function lease(
  tx: Db,
  id: string,
  { name, tags, timeoutSeconds, startUrl, telemetry, keyId }: Lease,
): Promise<BrowserRecord | undefined> {
  const leased = await tx
    .updateTable('browsers')
    .set({
      leased_at: sql`now()`,
      lease_number: sql<number>`lease_number + 1`,
      lease_started: sql<number>`lease_number + 1`,
      lease_keys: sql<string>`${keptKeys} || jsonb_build_object(${keyId}::text, lease_number + 1)`,
      name,
      tags: JSON.stringify(tags),
      timeout_seconds: timeoutSeconds,
      ...(startUrl !== undefined && { start_url: startUrl }),
      ...changedTelemetry(telemetry),
    })
    .where('id', '=', id)
    .where(isUsableRow())
    .where('leased_at', 'is', null)
    .returning(browserColumns)
    .executeTakeFirst()
  if (leased) await announceChange(tx, 'sessionChanged', { sessionId: id })
  return leased
}

/** Invalidates the lease's URLs without leasing the browser again. Undefined when the lease is already over. */
export async function revoke(
  tx: Db,
  { id, lease_number: number }: BrowserRecord,
): Promise<BrowserRecord | undefined> {
  const revoked = await tx
    .updateTable('browsers')
    .set({ lease_number: number + 1 })
    .where('id', '=', id)
    .where('lease_number', '=', number)
    .where('leased_at', 'is not', null)
    .where(isLiveRow())
    .returning(browserColumns)
    .executeTakeFirst()
  if (revoked) await announceChange(tx, 'sessionChanged', { sessionId: id })
  return revoked
}

/** Returns the browser to its pool with the pool's settings. False when the lease is already over or the browser has ended. */
export async function makeIdle(
  tx: Db,
  { id, lease_number: number, telemetry, telemetry_destination_id: destinationId }: BrowserRecord,
  pool: PoolRecord,
): Promise<boolean> {
  const isSame = JSON.stringify(telemetry) === JSON.stringify(pool.telemetry)
  const { numUpdatedRows } = await tx
    .updateTable('browsers')
    .set({
      leased_at: null,
      released_at: sql`now()`,
      lease_number: number + 1,
      lease_started: 0,
      name: null,
      tags: '{}',
      start_url: pool.browser.start_url ?? null,
      ...changedTelemetry(isSame ? undefined : pool.telemetry),
    })
    .where('id', '=', id)
    .where('lease_number', '=', number)
    .where('leased_at', 'is not', null)
    .where(isLiveRow())
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  if (destinationId !== null) await bindExport(tx, id, null)
  await announceChange(tx, 'sessionChanged', { sessionId: id })
  return true
}

function changedTelemetry(telemetry: Selection | undefined) {
  return (
    telemetry !== undefined && {
      telemetry: telemetry && [...telemetry],
      telemetry_version: sql<number>`telemetry_version + 1`,
    }
  )
}

export async function findPooled(
  db: Db,
  poolId: string,
  sessionId: string,
): Promise<BrowserRecord | undefined> {
  return db
    .selectFrom('browsers')
    .select(browserColumns)
    .where('pool_id', '=', poolId)
    .where('id', '=', sessionId)
    .executeTakeFirst()
}

export async function countLeased(tx: Db, poolId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('browsers')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('pool_id', '=', poolId)
    .where(isLiveRow())
    .where('leased_at', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}

/** Ends waiting and starting browsers, and optionally leased ones; the newest first, up to `limit`. */
export async function endPooled(
  tx: Db,
  poolId: string,
  { reason, includeLeased = false, limit }: { reason: EndReason; includeLeased?: boolean; limit?: number },
): Promise<void> {
  const which = tx
    .selectFrom('browsers')
    .select('id')
    .where('pool_id', '=', poolId)
    .where(isLiveRow())
    .$if(!includeLeased, (query) => query.where('leased_at', 'is', null))
    .orderBy(sql`state = 'starting'`, 'desc')
    .orderBy('created_at', 'desc')
    .$if(limit !== undefined, (query) => query.limit(limit!))
  const rows = await transitionAll(tx, which, { to: 'ending', reason })
  // The servers that run them end them.
  for (const { id } of rows) await announceChange(tx, 'sessionChanged', { sessionId: id })
}

/** Ends waiting browsers of a pool that became smaller, down to its size. */
export async function endExcess(tx: Db, pool: PoolRecord): Promise<void> {
  const { rows } = await sql<{ excess: number }>`
    SELECT (-${missing})::int AS excess FROM browser_pools AS pool WHERE pool.id = ${pool.id}`.execute(tx)
  const excess = rows[0]?.excess ?? 0
  if (excess > 0) await endPooled(tx, pool.id, { reason: 'deleted', limit: excess })
}
