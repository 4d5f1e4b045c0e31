// Stores the events of all sessions of this server, one transaction per tenth of a second. Readers get events once
// they are stored: on this server directly, on others through the announcement.
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { pause } from '@berth/kit/pause'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import type { Collector, StoredBatch } from './collector.ts'
import type { Feed } from './feed.ts'
import type { ProjectShare } from './project-share.ts'
import * as store from './store.ts'

/** Time between two transactions. After a silence, only SOON_MS applies. */
const EVERY_MS = 100
const SOON_MS = 10
const RETRY_MS = 500
const MAX_FAILURES = 3
/** A session above its limit is trimmed to this share of it. */
const KEPT_SHARE = 0.9

export interface RecorderOptions {
  readonly db: Db
  readonly pool: Pool
  readonly feed: Feed
  readonly share: ProjectShare
  /** Stored bytes per session. */
  readonly maxBytes: number
  readonly log: Logger
}

export class Recorder {
  readonly #options: RecorderOptions
  readonly #dirty = new Set<Collector>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #lastAt = -Infinity
  #isFailing = false

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  schedule(collector: Collector): void {
    this.#dirty.add(collector)
    this.#arm()
  }

  #arm(): void {
    if (this.#timer || this.#writing || this.#dirty.size === 0) return
    const earliest = this.#lastAt + (this.#isFailing ? RETRY_MS : EVERY_MS)
    const delay = Math.max(SOON_MS, earliest - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined
        this.#arm()
      })
    }, delay)
  }

  async #write(): Promise<void> {
    const { log } = this.#options
    // In a fixed order, to avoid a deadlock with the clean-up.
    const collectors = [...this.#dirty]
      .filter((collector) => collector.hasWork)
      .toSorted((one, other) => (one.sessionId < other.sessionId ? -1 : 1))
    this.#dirty.clear()
    if (collectors.length === 0) return
    this.#lastAt = performance.now()
    const failure = await this.#tryCommit(collectors)
    if (failure === undefined) this.#isFailing = false
    else {
      if (!this.#isFailing) log.warn({ err: failure }, 'cannot store events yet')
      this.#isFailing = true
    }
  }

  /** Stores all sessions together. If that fails, stores each separately, so that one session does not block the others. */
  async #tryCommit(collectors: readonly Collector[]): Promise<unknown> {
    try {
      await this.#commit(collectors)
      return undefined
    } catch (error) {
      if (collectors.length === 1) {
        this.#dirty.add(collectors[0]!)
        return error
      }
    }
    let failure: unknown
    let failed = 0
    for (const collector of collectors) {
      // After several failures, the cause is the database and not a session.
      if (failed === MAX_FAILURES) this.#dirty.add(collector)
      else {
        const why = await this.#tryCommit([collector])
        failure ??= why
        if (why !== undefined) failed++
      }
    }
    return failure
  }

  async #commit(collectors: readonly Collector[]): Promise<void> {
    const { pool, feed, share } = this.#options
    const stored = await inTransaction(pool, async ({ db: tx, alongCommit }) => {
      const batches: { collector: Collector; batch: StoredBatch }[] = []
      for (const collector of collectors) {
        const batch = await collector.store(tx)
        if (!batch) continue
        batches.push({ collector, batch })
        const event = { sessionId: collector.sessionId, upTo: String(batch.lastSeq) }
        alongCommit(() => announceChange(tx, 'telemetryStored', event))
      }
      return batches
    })
    for (const { collector, batch } of stored) {
      collector.committed(batch)
      feed.committed(collector.sessionId, batch)
      if (collector.hasWork) this.#dirty.add(collector)
      if (collector.storedBytes > this.#options.maxBytes) await this.#dropOldest(collector)
      share.check(collector.projectId)
    }
  }

  async #dropOldest(collector: Collector): Promise<void> {
    const { db, maxBytes } = this.#options
    const leftBytes = await store.dropOldest(db, collector.sessionId, Math.floor(maxBytes * KEPT_SHARE))
    collector.dropped({ leftBytes })
  }

  /** Resolves when the collector has nothing left to store, or when the time is up. */
  async flush(collector: Collector, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs
    while (collector.hasWork && performance.now() < deadline) {
      this.schedule(collector)
      await (this.#writing ?? pause(SOON_MS))
    }
    // Wait for a running transaction, if time allows.
    if (this.#writing) await Promise.race([this.#writing, pause(Math.max(0, deadline - performance.now()))])
  }

  async announceEnd(sessionId: string): Promise<void> {
    this.#options.feed.ended(sessionId)
    await announceChange(this.#options.db, 'telemetryStored', { sessionId, upTo: 'end' })
  }
}
