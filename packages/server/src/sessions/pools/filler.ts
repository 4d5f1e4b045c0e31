// Starts the browsers that pools lack. Every server does this, one browser at a time for each project: projects take
// turns, and one whose browsers start slowly delays only itself. The row is inserted first, under the pool's lock, so that
// all servers together start the right number.
import { availableParallelism } from 'node:os'
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import { pause } from '@berth/kit/pause'
import { TurnOrder } from './turn-order.ts'
import type { BrowserService, PlannedBrowser, ReservedIds } from '../browsers/service.ts'
import { transition } from '../browsers/state.ts'
import { insertBrowser } from '../browsers/store.ts'
import type { BrowserRecord } from '../browsers/types.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { hasRoom, isCrowded, listShortPools, type ShortPool } from './pooled-browsers.ts'
import type { PoolPolicies } from './policies.ts'
import { removeAbandonedPlaces } from './queue.ts'
import * as store from './store.ts'
import type { PoolRecord } from './types.ts'

const PROJECTS_AT_ONCE = Math.max(2, availableParallelism())
/** Interval while a pool lacks browsers but its fill rate does not allow another yet. */
const NEXT_LOOK_MS = 1_000
/** Interval otherwise, to notice missed announcements and clean up after lost servers. */
const IDLE_LOOK_MS = 10_000
const BURST_MS = 20
const RETRY_MS = 1_000
/** The retry delay doubles with each consecutive failure, up to this. */
const MAX_RETRY_MS = 60_000

export interface FillerOptions {
  readonly db: Db
  readonly pool: Pool
  readonly browsers: BrowserService
  readonly policies: PoolPolicies
  readonly serverId: string
  /** That of this server. It fills only pools of its region. */
  readonly region: string
  /** False when this host cannot run sessions. */
  readonly isAble: () => boolean
  readonly log: Logger
}

/** Another server was faster, or the pool has changed. */
class NoRoom extends Error {}

/** Inserts the row under the pool's lock. */
type Reserve = (planned: PlannedBrowser, ids: ReservedIds) => Promise<BrowserRecord>

interface Backoff {
  readonly until: number
  readonly pauseMs: number
}

export class Filler {
  readonly #options: FillerOptions
  readonly #closing = new AbortController()
  /** Pools whose last attempt on this server failed. */
  readonly #backoffs = new Map<string, Backoff>()
  /** By project. */
  readonly #filling = new Map<string, Promise<void>>()
  readonly #turns = new TurnOrder()
  #running: Promise<void> | undefined
  #wake: (() => void) | undefined
  #isNews = false
  #hasMade = false
  readonly #replacing = new Set<Promise<boolean>>()

  constructor(options: FillerOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#options.isAble()) this.#running ??= this.#run()
  }

  /** Called when a pool has changed. */
  wake(): void {
    this.#isNews = true
    this.#wake?.()
  }

  /**
   * Replaces a browser: `end` ends the old one, and the same transaction inserts the row of the new one. The fill rate
   * does not apply.
   */
  async replace(poolId: string, end: (first: (tx: Db) => Promise<void>) => Promise<void>): Promise<void> {
    const replacing = this.#make(poolId, async (planned, ids) => {
      let record: BrowserRecord | undefined
      await end(async (tx) => {
        const pool = await store.lockPool(tx, poolId)
        if (!pool || (await isCrowded(tx, poolId))) return
        record = await this.#insert(tx, pool, { planned, ids })
      })
      if (!record) throw new NoRoom()
      return record
    })
    this.#replacing.add(replacing)
    try {
      await replacing
    } finally {
      this.#replacing.delete(replacing)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#wake?.()
    await this.#running
    await Promise.all(this.#filling.values())
    await Promise.allSettled(this.#replacing)
  }

  async #run(): Promise<void> {
    const { db, region, log } = this.#options
    while (!this.#closing.signal.aborted) {
      this.#isNews = false
      this.#hasMade = false
      let waitMs = IDLE_LOOK_MS
      try {
        const short = await listShortPools(db, region)
        this.#forgetBackoffs(new Set(short.map(({ id }) => id)))
        this.#fill(short)
        if (short.length > 0) waitMs = NEXT_LOOK_MS
        else await removeAbandonedPlaces(db)
      } catch (error) {
        log.warn({ err: error }, 'cannot fill the pools')
      }
      await this.#sleep(waitMs)
    }
  }

  /** One browser for each project, for the pool whose turn it is; then it looks again. */
  #fill(short: readonly ShortPool[]): void {
    for (const { id, projectId, mayGrow } of this.#turns.inOrder(short)) {
      if (this.#filling.size >= PROJECTS_AT_ONCE || this.#closing.signal.aborted) return
      if (!mayGrow || this.#isBackingOff(id) || this.#filling.has(projectId)) continue
      this.#turns.served({ id, projectId })
      this.#filling.set(projectId, this.#fillOne(id, projectId))
    }
  }

  async #fillOne(id: string, projectId: string): Promise<void> {
    const isMade = await this.#try(id)
    this.#filling.delete(projectId)
    if (isMade || this.#isBackingOff(id)) this.#lookAgain()
  }

  /** At once, unlike after a change of a pool. */
  #lookAgain(): void {
    this.#isNews = true
    this.#hasMade = true
    this.#wake?.()
  }

  async #try(poolId: string): Promise<boolean> {
    try {
      const isMade = await this.#make(poolId, (planned, ids) =>
        inTransaction(this.#options.pool, async ({ db: tx }) => {
          const pool = await store.lockPool(tx, poolId)
          if (!pool || !(await hasRoom(tx, poolId))) throw new NoRoom()
          return this.#insert(tx, pool, { planned, ids })
        }),
      )
      this.#backoffs.delete(poolId)
      return isMade
    } catch (error) {
      if (this.#closing.signal.aborted) return false
      const before = this.#backoffs.get(poolId)?.pauseMs ?? RETRY_MS / 2
      const pauseMs = Math.min(MAX_RETRY_MS, before * 2)
      this.#backoffs.set(poolId, { until: performance.now() + pauseMs, pauseMs })
      this.#options.log.warn({ err: error, poolId, pauseMs }, 'cannot start a browser for a pool')
      return false
    }
  }

  /** False when the pool has no room for another browser. */
  async #make(poolId: string, reserve: Reserve): Promise<boolean> {
    const { db, browsers } = this.#options
    try {
      const pool = await store.findPool(db, null, poolId)
      if (!pool) return false
      const planned = await this.#plan(pool)
      await browsers.open(planned, {
        reserve: (ids) => reserve(planned, ids),
        finish: async ({ id }) => {
          crashPoint('pooled-started')
          if (!(await transition(db, id, { to: 'ready' }))) throw new NoRoom()
        },
      })
      return true
    } catch (error) {
      if (error instanceof NoRoom) return false
      throw error
    }
  }

  async #plan(pool: PoolRecord): Promise<PlannedBrowser> {
    const { project_id: projectId, timeout_seconds } = pool
    const { browser } = await this.#options.policies.join(this.#options.db, pool)
    const request = { ...browser, timeout_seconds }
    const looking = { db: this.#options.db, waits: true, signal: this.#closing.signal }
    const planned = await this.#options.browsers.plan(request, { projectId, telemetryAge: 'opt-in' }, looking)
    return { ...planned, browser: { ...planned.browser, telemetry: pool.telemetry } }
  }

  async #insert(
    tx: Db,
    pool: PoolRecord,
    { planned, ids }: { planned: PlannedBrowser; ids: ReservedIds },
  ): Promise<BrowserRecord> {
    const { serverId } = this.#options
    let record = await insertBrowser(tx, planned.browser, { ...ids, serverId, pool })
    for (const each of planned.extras) record = (await each.keep?.(tx, record)) ?? record
    return record
  }

  #isBackingOff(poolId: string): boolean {
    const backoff = this.#backoffs.get(poolId)
    return backoff !== undefined && performance.now() < backoff.until
  }

  #forgetBackoffs(short: ReadonlySet<string>): void {
    for (const poolId of this.#backoffs.keys()) if (!short.has(poolId)) this.#backoffs.delete(poolId)
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#isNews || this.#closing.signal.aborted) return
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await pause(ms, woken.signal)
    this.#wake = undefined
    // Changes come in bursts, and one look is enough for a whole burst.
    if (woken.signal.aborted && !this.#hasMade) await pause(BURST_MS, this.#closing.signal)
  }
}
