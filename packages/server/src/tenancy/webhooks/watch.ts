// Tells what no row says when it happens: keys that expire soon, and limits that are near. One server looks each minute.
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
      await this.#look().catch((error: unknown) =>
        this.#options.log.debug({ err: error }, 'cannot look for keys that expire and limits that are near'),
      )
      await pause(TRY_EVERY_MS, signal)
    }
  }

  async #look(): Promise<void> {
    const { db, pool, usesOf } = this.#options
    if (!(await store.takeTurn(db))) return
    await inTransaction(pool, ({ db: tx }) => store.tellExpiringKeys(tx))
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
