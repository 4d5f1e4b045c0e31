// Removing what has served its time. Every replica tries; an advisory lock lets one work.
import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { deleteAuditRecordsBefore } from '../audit/store.ts'
import { inTransaction } from '../db/transaction.ts'
import { forgetOldAnswers } from '../http/idempotency.ts'

const EVERY_MS = 3_600_000
const DAY_MS = 24 * 3_600_000
const AUDIT_BATCH = 5_000
const HOUSEKEEPING_LOCK = 7_236_814_007

export class Housekeeping {
  readonly #pool: Pool
  readonly #log: Logger
  readonly #auditRetentionDays: number
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> = Promise.resolve()
  #isClosing = false

  constructor(options: { pool: Pool; log: Logger; auditRetentionDays: number }) {
    this.#pool = options.pool
    this.#log = options.log
    this.#auditRetentionDays = options.auditRetentionDays
    this.#timer = setInterval(() => void this.run(), EVERY_MS)
    this.#timer.unref()
  }

  run(): Promise<void> {
    this.#running = this.#running.then(() =>
      this.#clean().catch((error: unknown) => this.#log.warn({ err: error }, 'housekeeping failed')),
    )
    return this.#running
  }

  /** In small steps: no statement is long, and another replica may take over between two. */
  async #clean(): Promise<void> {
    const auditEnd = new Date(Date.now() - this.#auditRetentionDays * DAY_MS)
    let deleted: number
    do {
      deleted = await inTransaction(this.#pool, async ({ db: tx }) => {
        const { rows } = await sql<{ isMine: boolean }>`
          SELECT pg_try_advisory_xact_lock(${HOUSEKEEPING_LOCK}) AS "isMine"`.execute(tx)
        if (!rows[0]?.isMine) return 0
        await forgetOldAnswers(tx)
        return deleteAuditRecordsBefore(tx, auditEnd, AUDIT_BATCH)
      })
    } while (deleted === AUDIT_BATCH && !this.#isClosing)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    clearInterval(this.#timer)
    await this.#running
  }
}
