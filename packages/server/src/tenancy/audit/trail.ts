// Writes the audit log. A change is recorded in its own transaction, so no change lacks a record.
// Reads and refusals are collected and written in batches: a kill -9 can lose only what the last
// FLUSH_MS collected.
import type { Logger } from 'pino'
import type { RequestAudit } from '../../http/request-audit.ts'
import { SerialQueue } from '@berth/kit/serial-queue'
import { databaseFailure } from '../../platform/database/failures.ts'
import type { Db } from '../../platform/database/schema.ts'
import { insertAuditRecords } from './store.ts'
import type { NewAuditRecord } from './types.ts'

const FLUSH_MS = 1_000
const FLUSH_AT = 500
const BATCH_SIZE = 2_000
/** When this many records wait, new requests wait too, so that the log can catch up. */
const CROWDED = 5_000
/** Records wait while the database is down; beyond this many, the oldest are dropped and counted. */
const MAX_WAITING = 20_000

export class AuditTrail implements RequestAudit {
  readonly #db: Db
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  #waiting: NewAuditRecord[] = []
  readonly #flushes = new SerialQueue()
  #droppedCount = 0

  constructor({ db, log }: { db: Db; log: Logger }) {
    this.#db = db
    this.#log = log
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS)
    this.#timer.unref()
  }

  get droppedCount(): number {
    return this.#droppedCount
  }

  async recordIn(tx: Db, record: NewAuditRecord): Promise<void> {
    await insertAuditRecords(tx, [record])
  }

  record(record: NewAuditRecord): void {
    this.#waiting.push(record)
    if (this.#waiting.length === FLUSH_AT) void this.flush()
    if (this.#waiting.length <= MAX_WAITING) return
    const tooMany = this.#waiting.splice(0, BATCH_SIZE)
    this.#droppedCount += tooMany.length
  }

  /** A promise that a new request must await before it adds to the log; usually undefined. */
  room(): Promise<void> | undefined {
    return this.#waiting.length < CROWDED ? undefined : this.flush()
  }

  /** Resolves when every record so far is stored, or when storing failed for now. */
  flush(): Promise<void> {
    return this.#flushes.run(() => this.#write())
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_SIZE)
      try {
        await this.#store(batch)
      } catch (error) {
        this.#log.warn({ err: error, waiting: this.#waiting.length }, 'cannot write audit records yet')
        this.#waiting.unshift(...batch)
        return
      }
    }
  }

  /** A record that the database refuses must not block the others forever. */
  async #store(batch: readonly NewAuditRecord[]): Promise<void> {
    try {
      await insertAuditRecords(this.#db, batch)
    } catch (error) {
      if (databaseFailure(error)) throw error
      if (batch.length > 1) {
        for (const record of batch) await this.#store([record])
        return
      }
      this.#droppedCount++
      this.#log.error({ err: error, requestId: batch[0]?.request_id }, 'audit record refused by the database')
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}
