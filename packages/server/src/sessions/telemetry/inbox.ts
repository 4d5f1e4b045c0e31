// Passes events that this server sees of another server's session to that server, through the database. They describe
// requests and connections, but not their contents.
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { pause } from '@berth/kit/pause'
import { announceChange } from '../../platform/database/changes.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { nowUs } from './event.ts'
import type { OwnEvent } from '../session/own-event.ts'
import * as store from './store.ts'

const EVERY_MS = 50
const MAX_WAITING = 5_000

export class Inbox {
  readonly #pool: Pool
  readonly #log: Logger
  #waiting: { sessionId: string; event: object }[] = []
  #writing: Promise<void> | undefined
  #droppedCount = 0

  constructor({ pool, log }: { pool: Pool; log: Logger }) {
    this.#pool = pool
    this.#log = log
  }

  get droppedCount(): number {
    return this.#droppedCount
  }

  put(sessionId: string, event: OwnEvent): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#droppedCount++
      return
    }
    this.#waiting.push({ sessionId, event: { ...event, ts: nowUs() } })
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined))
  }

  /** Resolves when all events are written. */
  async flush(): Promise<void> {
    await this.#writing
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      await pause(EVERY_MS)
      const events = this.#waiting
      this.#waiting = []
      try {
        await inTransaction(this.#pool, async ({ db: tx, alongCommit }) => {
          await store.putInInbox(tx, events)
          for (const id of new Set(events.map(({ sessionId }) => sessionId))) {
            alongCommit(() => announceChange(tx, 'telemetryInboxFilled', { sessionId: id }))
          }
        })
      } catch (error) {
        this.#droppedCount += events.length
        this.#log.warn({ err: error, events: events.length }, 'cannot pass events on to their server')
      }
    }
  }
}
