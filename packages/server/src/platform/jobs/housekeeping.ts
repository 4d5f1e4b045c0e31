// Deletes expired data once an hour. Each room has its own tasks. Every server tries to run; an
// advisory lock allows only one.
import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { SerialQueue } from '@berth/kit/serial-queue'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transaction.ts'

const EVERY_MS = 3_600_000
const DAY_MS = 24 * 3_600_000
const HOUSEKEEPING_LOCK = 7_236_814_007

export interface HousekeepingTools {
  readonly db: Db
  /** Runs one small step in a transaction; returns undefined when another server holds the lock. */
  readonly alone: <T>(step: (tx: Db) => Promise<T>) => Promise<T | undefined>
  /** Fires when the server stops; start no step after that. */
  readonly signal: AbortSignal
}

export interface HousekeepingTask {
  readonly name: string
  readonly run: (tools: HousekeepingTools) => Promise<void>
}

export interface Retention {
  readonly name: string
  readonly days: number
  /** Rows per step: statements stay short, and another server can take over between two. */
  readonly batch: number
  /** Deletes up to `limit` rows older than `end` and returns the count. */
  readonly deleteBefore: (tx: Db, end: Date, limit: number) => Promise<number>
}

/** Deletes rows older than some days, in batches. */
export function retention({ name, days, batch, deleteBefore }: Retention): HousekeepingTask {
  return {
    name,
    run: async ({ alone, signal }) => {
      const end = daysAgo(days)
      let deleted: number | undefined
      do {
        deleted = await alone((tx) => deleteBefore(tx, end, batch))
      } while (deleted === batch && !signal.aborted)
    },
  }
}

export const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)

export interface HousekeepingOptions {
  readonly db: Db
  readonly pool: Pool
  readonly log: Logger
  /** Run one after the other, in this order. A failed task does not stop the others. */
  readonly tasks: readonly HousekeepingTask[]
}

export class Housekeeping {
  readonly #options: HousekeepingOptions
  readonly #timer: NodeJS.Timeout
  readonly #closing = new AbortController()
  readonly #runs = new SerialQueue()

  constructor(options: HousekeepingOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.run(), EVERY_MS)
    this.#timer.unref()
  }

  run(): Promise<void> {
    return this.#runs.run(() => this.#runAll())
  }

  async #runAll(): Promise<void> {
    const { db, pool, log, tasks } = this.#options
    const { signal } = this.#closing
    const tools = { db, signal, alone: aloneIn(pool) }
    for (const { name, run } of tasks) {
      if (signal.aborted) return
      await run(tools).catch((error: unknown) =>
        log.warn({ err: error, task: name }, 'housekeeping task failed'),
      )
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#timer)
    await this.#runs.settled()
  }
}

function aloneIn(pool: Pool): HousekeepingTools['alone'] {
  return (step) =>
    inTransaction(pool, async ({ db: tx }) => {
      const { rows } = await sql<{ isMine: boolean }>`
        SELECT pg_try_advisory_xact_lock(${HOUSEKEEPING_LOCK}) AS "isMine"`.execute(tx)
      return rows[0]?.isMine ? step(tx) : undefined
    })
}
