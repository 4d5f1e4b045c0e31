// Delivers stored events to collectors, at least once. Any server may deliver to a destination, one at a time: it holds a
// lease in the database. The position of each session and destination is stored after the collector has accepted the
// events, so a server that is killed in between sends them again. Where a delivery stands, is in the database only.
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import { FairTurns, TooManyWaiting } from '@berth/kit/fair-turns'
import { pause } from '@berth/kit/pause'
import type { Db } from '../../../platform/database/schema.ts'
import { inTransaction } from '../../../platform/database/transaction.ts'
import { crashPoint } from '../../../platform/errors/crash-point.ts'
import type { SealedBox } from '../../../platform/secrets/sealed-box.ts'
import type { Verdict } from './answer.ts'
import { MAX_EVENTS, readBatch, type Batch } from './batch.ts'
import type { CollectorClient } from './collector-client.ts'
import * as store from './delivery-store.ts'
import type { DueDestination } from './delivery-store.ts'
import { encodeLogs } from './log-records.ts'
import { retryDelayMs } from './retry.ts'
import { openHeaders } from './sealed-headers.ts'
import { MAX_DESTINATIONS } from './service.ts'
import type { DestinationRecord } from './types.ts'

/** New events are gathered for so long. */
const GATHER_MS = 1_000
/** Announcements may be missed, and leases of other servers run out. */
const LOOK_EVERY_MS = 15_000
const MAX_DUE = 1_000
/** Requests that this server has under way, each with at most one batch. */
const MAX_AT_ONCE = 256
/** Batches that are read and encoded at once. */
const MAX_READ_AT_ONCE = 4

export interface DelivererOptions {
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly client: CollectorClient
  readonly serverId: string
  readonly version: string
  readonly log: Logger
}

/** What this server has done since its start. */
export interface DeliveryCounts {
  delivered: number
  rejected: number
  failures: number
}

export class Deliverer {
  readonly #options: DelivererOptions
  readonly #closing = new AbortController()
  /** A project has a place for each of its destinations, so slow ones delay no others. */
  readonly #places = new FairTurns({
    atOnce: MAX_AT_ONCE,
    atOncePerKey: MAX_DESTINATIONS,
    maxWaitingPerKey: MAX_DESTINATIONS,
  })
  readonly #reading = new FairTurns({
    atOnce: MAX_READ_AT_ONCE,
    atOncePerKey: MAX_READ_AT_ONCE / 2,
    maxWaitingPerKey: MAX_DESTINATIONS,
  })
  readonly #underWay = new Map<string, Promise<void>>()
  /** Are to be looked at again after the delivery that is under way. */
  readonly #again = new Set<string>()
  readonly counts: DeliveryCounts = { delivered: 0, rejected: 0, failures: 0 }
  #loop: Promise<void> | undefined
  #hasExports = true
  #isNews = false
  #wake: (() => void) | undefined

  constructor(options: DelivererOptions) {
    this.#options = options
  }

  get underWay(): number {
    return this.#underWay.size
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  /** A destination has changed, or a session begins to export. */
  changed(): void {
    this.#hasExports = true
    this.#isNews = true
    this.#wake?.()
  }

  /** Some session has stored events; this is called very often. */
  stored(): void {
    if (!this.#hasExports || this.#isNews) return
    this.#isNews = true
    this.#wake?.()
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      const waitMs = await this.#look().catch((error: unknown) => {
        this.#options.log.debug({ err: error }, 'cannot look for telemetry to export')
        return LOOK_EVERY_MS
      })
      await this.#sleep(waitMs)
      // Events come in bursts, and one look is enough for a whole burst.
      await pause(GATHER_MS, signal)
    }
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#isNews || this.#closing.signal.aborted) return
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await pause(ms, woken.signal)
    this.#wake = undefined
  }

  /** Begins what is due. Returns how long nothing else is, as far as is known. */
  async #look(): Promise<number> {
    const { db, serverId } = this.#options
    this.#isNews = false
    this.#hasExports = await store.hasExports(db)
    if (!this.#hasExports) return LOOK_EVERY_MS
    const due = await store.listDue(db, serverId, MAX_DUE)
    for (const each of due) {
      if (each.dueInMs > 0) continue
      if (this.#underWay.has(each.id)) this.#again.add(each.id)
      else this.#begin(each)
    }
    const later = due.flatMap(({ dueInMs }) => (dueInMs > 0 ? dueInMs : []))
    return Math.min(LOOK_EVERY_MS, ...later)
  }

  #begin(destination: DueDestination): void {
    const { log } = this.#options
    const work = this.#deliverAll(destination)
      .catch((error: unknown) => {
        if (this.#closing.signal.aborted || error instanceof TooManyWaiting) return
        log.warn({ err: error, destinationId: destination.id }, 'cannot export telemetry yet')
      })
      .finally(() => {
        this.#underWay.delete(destination.id)
        if (this.#again.delete(destination.id)) this.changed()
      })
    this.#underWay.set(destination.id, work)
  }

  async #deliverAll(destination: DueDestination): Promise<void> {
    let maxEvents = MAX_EVENTS
    for (;;) {
      const outcome = await this.#deliver(destination, maxEvents)
      if (outcome === 'halve') maxEvents = Math.max(1, Math.floor(maxEvents / 2))
      else if (outcome === 'over') return
    }
  }

  /** Delivers one batch, and lets others have their turns before the next. */
  async #deliver({ id, projectId }: DueDestination, maxEvents: number): Promise<'more' | 'halve' | 'over'> {
    const { db, pool, client, serverId } = this.#options
    const { signal } = this.#closing
    using turn = new DisposableStack()
    turn.use(await this.#places.enter(projectId, signal))
    const destination = await store.leaseDestination(db, id, serverId)
    if (!destination) return 'over'
    const read = await this.#read(destination, maxEvents)
    const { batch } = read
    if (batch.count === 0) {
      await inTransaction(pool, ({ db: tx }) => store.settleExports(tx, id, batch.progress))
      return batch.hasMore && batch.progress.length > 0 ? 'more' : 'over'
    }
    const verdict = await client.send({ ...read, endpoint: destination.endpoint }, signal)
    crashPoint('telemetry-delivered')
    return this.#settle(destination, batch, verdict)
  }

  /** Few at once, because decoding and encoding takes memory and this process's time. */
  async #read(destination: DestinationRecord, maxEvents: number) {
    const { box, version } = this.#options
    const { id, project_id: projectId } = destination
    using turn = new DisposableStack()
    turn.use(await this.#reading.enter(projectId, this.#closing.signal))
    const batch = await readBatch(this.#options, { id, projectId }, maxEvents)
    return {
      batch: { count: batch.count, progress: batch.progress, hasMore: batch.hasMore },
      body: encodeLogs(batch.sessions, { version }),
      headers: openHeaders(box, destination),
    }
  }

  async #settle(
    destination: DestinationRecord,
    { count, progress, hasMore }: Omit<Batch, 'sessions'>,
    verdict: Verdict,
  ): Promise<'more' | 'halve' | 'over'> {
    const { pool, log } = this.#options
    const { id, consecutive_failures: failures } = destination
    if (verdict.kind === 'accepted') {
      const rejected = Math.min(verdict.rejected, count)
      const success = { delivered: count - rejected, rejected }
      await inTransaction(pool, ({ db: tx }) => store.keepSuccess(tx, id, success, progress))
      this.counts.delivered += success.delivered
      this.counts.rejected += rejected
      if (hasMore) return 'more'
      await inTransaction(pool, ({ db: tx }) => store.settleExports(tx, id, []))
      return 'over'
    }
    if (verdict.kind === 'too-large' && count > 1) return 'halve'
    const isGivenUp = verdict.kind === 'refused' || verdict.kind === 'too-large'
    const failure = {
      reason: verdict.reason,
      rejected: isGivenUp ? count : 0,
      retryInMs: retryDelayMs(verdict, failures),
    }
    await inTransaction(pool, ({ db: tx }) =>
      store.keepFailure(tx, destination, failure, isGivenUp ? progress : []),
    )
    // The next look finds out when it is tried again.
    this.#again.add(id)
    this.counts.failures++
    this.counts.rejected += failure.rejected
    const entry = { destinationId: id, reason: verdict.reason, rejected: failure.rejected }
    // The owner sees it at the destination; the operator only the first time.
    log[failures === 0 ? 'info' : 'debug'](entry, 'a collector did not take telemetry')
    return 'over'
  }

  /** Deliveries under way are cut off; the next server sends them again. */
  async close(): Promise<void> {
    const { db, serverId, log } = this.#options
    this.#closing.abort(new Error('This server no longer exports telemetry'))
    this.#wake?.()
    await this.#loop
    await Promise.all(this.#underWay.values())
    await store
      .releaseDestinations(db, serverId)
      .catch((error: unknown) =>
        log.debug({ err: error }, 'cannot give telemetry destinations back; their leases run out'),
      )
  }
}
