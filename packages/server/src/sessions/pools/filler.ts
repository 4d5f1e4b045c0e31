// Makes the browsers that pools lack. Every server does, one at a time; a row says that one is being made before it
// is, and is written under the lock of its pool, so that all of them together make as many as there should be.
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import { pause } from '@berth/kit/pause'
import type { BrowserService, PlannedBrowser } from '../browsers/service.ts'
import { transition } from '../browsers/state.ts'
import { insertBrowser } from '../browsers/store.ts'
import type { BrowserRecord } from '../browsers/types.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { hasRoom, isCrowded, listShortPools } from './pooled-browsers.ts'
import type { PoolPolicies } from './policies.ts'
import { removeAbandonedPlaces } from './queue.ts'
import * as store from './store.ts'
import type { PoolRecord } from './types.ts'

/** While one lacks browsers that its rate does not allow yet. */
const NEXT_LOOK_MS = 1_000
/** In case an announcement was missed, and for what servers left that are no more. */
const IDLE_LOOK_MS = 10_000
const FLOCK_MS = 20
const RETRY_MS = 1_000
/** Doubled with every failure in a row. */
const MAX_RETRY_MS = 60_000

export interface FillerOptions {
  readonly db: Db
  readonly pool: Pool
  readonly browsers: BrowserService
  readonly policies: PoolPolicies
  readonly serverId: string
  /** False where no sessions can be had at all. */
  readonly isAble: () => boolean
  readonly log: Logger
}

/** Another server was quicker, or the pool was changed. */
class NoRoom extends Error {}

/** Makes the row, under the lock of the pool. */
type Reserve = (planned: PlannedBrowser, instanceId: string) => Promise<BrowserRecord>

interface Trouble {
  readonly until: number
  readonly pauseMs: number
}

export class Filler {
  readonly #options: FillerOptions
  readonly #closing = new AbortController()
  /** Pools where the last try failed here. */
  readonly #troubles = new Map<string, Trouble>()
  #running: Promise<void> | undefined
  #wake: (() => void) | undefined
  #isNews = false
  readonly #replacing = new Set<Promise<boolean>>()

  constructor(options: FillerOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#options.isAble()) this.#running ??= this.#run()
  }

  /** Something changed in a pool. */
  wake(): void {
    this.#isNews = true
    this.#wake?.()
  }

  /**
   * In the place of one that ends: `end` ends it, and in the same transaction the row of the new one is made,
   * whatever the rate says.
   */
  async replace(poolId: string, end: (first: (tx: Db) => Promise<void>) => Promise<void>): Promise<void> {
    const replacing = this.#make(poolId, async (planned, instanceId) => {
      let record: BrowserRecord | undefined
      await end(async (tx) => {
        const pool = await store.lockPool(tx, poolId)
        if (!pool || (await isCrowded(tx, poolId))) return
        record = await this.#insert(tx, pool, { planned, instanceId })
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
    await Promise.allSettled(this.#replacing)
  }

  async #run(): Promise<void> {
    const { db, log } = this.#options
    while (!this.#closing.signal.aborted) {
      this.#isNews = false
      let waitMs = IDLE_LOOK_MS
      try {
        const short = await listShortPools(db)
        this.#forgetTroubles(new Set(short.map(({ id }) => id)))
        let hasMade = false
        for (const { id, mayGrow } of short) {
          if (this.#closing.signal.aborted) return
          if (!mayGrow || this.#isTroubled(id)) continue
          hasMade = (await this.#try(id)) || hasMade
        }
        // One of each, and then again: none waits for another to be full.
        if (hasMade) continue
        if (short.length > 0) waitMs = NEXT_LOOK_MS
        else await removeAbandonedPlaces(db)
      } catch (error) {
        log.warn({ err: error }, 'cannot look after the pools')
      }
      await this.#sleep(waitMs)
    }
  }

  async #try(poolId: string): Promise<boolean> {
    try {
      const isMade = await this.#make(poolId, (planned, instanceId) =>
        inTransaction(this.#options.pool, async ({ db: tx }) => {
          const pool = await store.lockPool(tx, poolId)
          if (!pool || !(await hasRoom(tx, poolId))) throw new NoRoom()
          return this.#insert(tx, pool, { planned, instanceId })
        }),
      )
      this.#troubles.delete(poolId)
      return isMade
    } catch (error) {
      if (this.#closing.signal.aborted) return false
      const before = this.#troubles.get(poolId)?.pauseMs ?? RETRY_MS / 2
      const pauseMs = Math.min(MAX_RETRY_MS, before * 2)
      this.#troubles.set(poolId, { until: performance.now() + pauseMs, pauseMs })
      this.#options.log.warn({ err: error, poolId, pauseMs }, 'cannot make a browser for a pool')
      return false
    }
  }

  /** False: there is no room for one. */
  async #make(poolId: string, reserve: Reserve): Promise<boolean> {
    const { db, browsers } = this.#options
    try {
      const pool = await store.findPool(db, null, poolId)
      if (!pool) return false
      const planned = await this.#plan(pool)
      await browsers.open(planned, {
        reserve: (instanceId) => reserve(planned, instanceId),
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
    { planned, instanceId }: { planned: PlannedBrowser; instanceId: string },
  ): Promise<BrowserRecord> {
    const { serverId } = this.#options
    let record = await insertBrowser(tx, planned.browser, { serverId, instanceId, pool })
    for (const each of planned.extras) record = (await each.keep?.(tx, record)) ?? record
    return record
  }

  #isTroubled(poolId: string): boolean {
    const trouble = this.#troubles.get(poolId)
    return trouble !== undefined && performance.now() < trouble.until
  }

  #forgetTroubles(short: ReadonlySet<string>): void {
    for (const poolId of this.#troubles.keys()) if (!short.has(poolId)) this.#troubles.delete(poolId)
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#isNews || this.#closing.signal.aborted) return
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await pause(ms, woken.signal)
    this.#wake = undefined
    // Changes come in flocks, and one look is enough for all of them.
    if (woken.signal.aborted) await pause(FLOCK_MS, this.#closing.signal)
  }
}
