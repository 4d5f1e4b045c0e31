// What all projects store together, for the metrics. A figure for each project would be a series for each, for ever.
import type { Logger } from 'pino'
import type { Db } from '../../platform/database/schema.ts'
import { sumAll, type StoredKind } from './store.ts'

/** The sum reads much, and metrics are asked for all the time. */
const FRESH_MS = 60_000

export interface StorageTotalsOptions {
  readonly db: Db
  readonly kinds: readonly StoredKind[]
  readonly log: Logger
}

export class StorageTotals {
  readonly #options: StorageTotalsOptions
  #known: Readonly<Record<string, number>> = {}
  #askedAt = -Infinity

  constructor(options: StorageTotalsOptions) {
    this.#options = options
  }

  /** By kind, as known now; empty at first. Asks again in the background when that is old. */
  read(): Readonly<Record<string, number>> {
    const now = performance.now()
    if (now - this.#askedAt > FRESH_MS) {
      this.#askedAt = now
      void this.#ask()
    }
    return this.#known
  }

  async #ask(): Promise<void> {
    const { db, kinds, log } = this.#options
    try {
      this.#known = await sumAll(db, kinds)
    } catch (error) {
      log.debug({ err: error }, 'cannot sum what projects store now')
    }
  }
}
