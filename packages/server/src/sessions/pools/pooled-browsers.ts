// The browsers of pools as rows: which wait, which are leased, which are still to be made.
import { sql } from 'kysely'
import type { EndReason } from '@berth/contracts/browsers'
import { browserColumns } from '../browsers/columns.ts'
import { isLiveRow, isUsableRow, transitionAll } from '../browsers/state.ts'
import type { BrowserRecord } from '../browsers/types.ts'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { Selection } from '../telemetry/selection.ts'
import type { PoolRecord } from './types.ts'

/**
 * A server that was not heard of for so long may be gone, and its browsers with it: they are not leased, although
 * it takes longer until they count as lost. Servers say that they are there every 10 seconds.
 */
const HEARD_WITHIN_SECONDS = 25

/**
 * Of a selected pool, how many browsers may be made now. A minute brings as many as its rate says, rounded up, and
 * one more for each that was used and has ended, or was discarded. One that could not be started took nobody's
 * turn; one that crashed while it waited did, so that a pool whose browsers crash is not busy with that alone.
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
  /** Whether its rate allows another one now. */
  readonly mayGrow: boolean
}

/** Pools that have fewer browsers than they should; those first which have none to lease. */
export async function listShortPools(db: Db): Promise<ShortPool[]> {
  const { rows } = await sql<ShortPool>`
    SELECT pool.id, ${allowance} > 0 AS "mayGrow"
    FROM browser_pools AS pool JOIN projects ON projects.id = pool.project_id
    WHERE pool.deleted_at IS NULL AND pool.fill_rate_per_minute > 0 AND projects.status = 'active'
      AND ${missing} > 0
    ORDER BY EXISTS (SELECT 1 FROM browsers AS idle WHERE idle.pool_id = pool.id AND ${isLiveRow('idle')}
      AND idle.leased_at IS NULL), pool.created_at`.execute(db)
  return rows
}

/** For who has locked it. */
export async function hasRoom(tx: Db, poolId: string): Promise<boolean> {
  const { rows } = await sql<{ hasRoom: boolean }>`
    SELECT ${missing} > 0 AND pool.fill_rate_per_minute > 0 AND ${allowance} > 0 AS "hasRoom"
    FROM browser_pools AS pool WHERE pool.id = ${poolId}`.execute(tx)
  return rows[0]?.hasRoom ?? false
}

/** More browsers than it should have, as it was made smaller. */
export async function isCrowded(tx: Db, poolId: string): Promise<boolean> {
  const { rows } = await sql<{ isCrowded: boolean }>`
    SELECT ${missing} < 0 AS "isCrowded" FROM browser_pools AS pool WHERE pool.id = ${poolId}`.execute(tx)
  return rows[0]?.isCrowded ?? true
}

export interface IdleOptions {
  /** Its own browsers are nearer. */
  readonly serverId: string
  /** How many others come first. */
  readonly ahead: number
}

/** Of those that wait, the one that has waited longest; locked. */
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

/** Whether who waits for one has to do something: there is one, or there will never be. */
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
  /** Undefined: as it is. */
  readonly startUrl: string | undefined
  readonly telemetry: Selection | undefined
}

export async function lease(
  tx: Db,
  id: string,
  { name, tags, timeoutSeconds, startUrl, telemetry }: Lease,
): Promise<BrowserRecord | undefined> {
  const leased = await tx
    .updateTable('browsers')
    .set({
      leased_at: sql`now()`,
      lease_number: sql<number>`lease_number + 1`,
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

/** Its URLs work no more, and it is not leased to anybody else yet. Undefined: it is another's by now. */
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

/** It waits again, as its pool has it. False: it is another's by now, or has ended. */
export async function makeIdle(
  tx: Db,
  { id, lease_number: number, telemetry }: BrowserRecord,
  pool: PoolRecord,
): Promise<boolean> {
  const isSame = JSON.stringify(telemetry) === JSON.stringify(pool.telemetry)
  const { numUpdatedRows } = await tx
    .updateTable('browsers')
    .set({
      leased_at: null,
      released_at: sql`now()`,
      lease_number: number + 1,
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

/** Those that wait and those that are being made, or leased ones as well; at most so many, the newest first. */
export async function endPooled(
  tx: Db,
  poolId: string,
  { reason, leasedToo = false, most }: { reason: EndReason; leasedToo?: boolean; most?: number },
): Promise<void> {
  const which = tx
    .selectFrom('browsers')
    .select('id')
    .where('pool_id', '=', poolId)
    .where(isLiveRow())
    .$if(!leasedToo, (query) => query.where('leased_at', 'is', null))
    .orderBy(sql`state = 'starting'`, 'desc')
    .orderBy('created_at', 'desc')
    .$if(most !== undefined, (query) => query.limit(most!))
  const rows = await transitionAll(tx, which, { to: 'ending', reason })
  // Whichever servers have them end them.
  for (const { id } of rows) await announceChange(tx, 'sessionChanged', { sessionId: id })
}

/** How many a pool that was made smaller has too many; waiting ones make up for it. */
export async function endExcess(tx: Db, pool: PoolRecord): Promise<void> {
  const { rows } = await sql<{ excess: number }>`
    SELECT (-${missing})::int AS excess FROM browser_pools AS pool WHERE pool.id = ${pool.id}`.execute(tx)
  const excess = rows[0]?.excess ?? 0
  if (excess > 0) await endPooled(tx, pool.id, { reason: 'deleted', most: excess })
}
