// What one server does each minute for all: it tells what no row says when it happens, which are keys that expire soon and
// limits that are near, and keeps the logs of deliveries bounded.
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import type { Quota } from '@berth/contracts/webhook-events'
import { pause } from '@berth/kit/pause'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import * as store from './watch-store.ts'

/** How often each server tries; the first to come does it for all. */
const TRY_EVERY_MS = 5_000
const NEAR = 0.8
/** Below that, it can be near again. */
const FAR = 0.7

export interface Use {
  readonly quota: Quota
  readonly used: number
  /** Infinity without a limit. */
  readonly limit: number
}

export interface WebhookWatchOptions {
  readonly db: Db
  readonly pool: Pool
  /** What a project uses of its limits. */
  readonly usesOf: (db: Db, projectId: string) => Promise<readonly Use[]>
  /** Keeps the log of each webhook bounded. */
  readonly trim: (signal: AbortSignal) => Promise<void>
  readonly log: Logger
}

export class WebhookWatch {
  readonly #options: WebhookWatchOptions
  readonly #closing = new AbortController()
  #loop: Promise<void> | undefined

  constructor(options: WebhookWatchOptions) {
    this.#options = options
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#unlessItFails('look after webhooks', () => this.#look())
      await pause(TRY_EVERY_MS, signal)
    }
  }

  async #look(): Promise<void> {
    const { db, pool, trim } = this.#options
    const { signal } = this.#closing
    if (!(await store.takeTurn(db))) return
    const duties: [what: string, work: () => Promise<void>][] = [
      ['tell of keys that expire', () => inTransaction(pool, ({ db: tx }) => store.tellExpiringKeys(tx))],
      ['tell of limits that are near', () => this.#tellLimits()],
      ['delete webhook deliveries', () => trim(signal)],
    ]
    for (const [what, work] of duties) if (!signal.aborted) await this.#unlessItFails(what, work)
  }

  /** What fails is tried again in a minute, and delays nothing else. */
  async #unlessItFails(what: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => this.#options.log.debug({ err: error }, `cannot ${what}`))
  }

  async #tellLimits(): Promise<void> {
    const { db, usesOf } = this.#options
    for (const projectId of await store.listProjectsThatAsk(db, 'quota.near')) {
      if (this.#closing.signal.aborted) return
      for (const use of await usesOf(db, projectId)) await this.#judge(projectId, use)
    }
  }

  async #judge(projectId: string, { quota, used, limit }: Use): Promise<void> {
    const { db, pool } = this.#options
    if (used >= limit * NEAR) {
      await inTransaction(pool, ({ db: tx }) => store.tellQuotaNear(tx, { projectId, quota, used, limit }))
    } else if (used < limit * FAR) {
      await store.forgetQuotaNear(db, { projectId, quota })
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#loop
  }
}
