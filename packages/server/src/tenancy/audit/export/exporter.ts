// Exports the audit log to its destinations, window by window. A destination is worked on by who has its lease, and how far
// it has come is stored after each object: whoever goes on after a crash sends at most one object again.
import type { Logger } from 'pino'
import { joinSignals } from '@berth/kit/abort'
import { pause } from '@berth/kit/pause'
import { crashPoint } from '../../../platform/errors/crash-point.ts'
import type { Db } from '../../../platform/database/schema.ts'
import { buildChunk } from './chunk.ts'
import { objectKey } from './object-keys.ts'
import * as store from './store.ts'
import type { ExportLease, ExportWindow } from './types.ts'
import { WriteFailure, type DestinationWriter } from './writer.ts'

const MAX_AT_ONCE = 4
/** Then others have their turn. */
const MAX_WINDOWS_IN_TURN = 50
const MAX_WINDOW_SECONDS = 300
const BATCH = 2_000
const LEASE_SECONDS = 60
const RENEW_MS = 15_000
const MAX_IDLE_MS = 30_000
const MIN_IDLE_MS = 50
const RETRY_MS = 2_000
/** Between attempts: twice as long each time. */
const WAITS = { firstSeconds: 5, maxSeconds: 900 }

export interface AuditExporterOptions {
  readonly db: Db
  readonly serverId: string
  readonly writer: DestinationWriter
  readonly holdSeconds: number
  /** Resolves when the records that this server has collected are stored. */
  readonly flush: () => Promise<void>
  readonly log: Logger
}

export class AuditExporter {
  readonly #options: AuditExporterOptions
  readonly #windowSeconds: number
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #loop: Promise<void> | undefined
  #wake: (() => void) | undefined
  /** Since the loop last looked for work. */
  #isWoken = false
  #records = 0
  #failures = 0

  constructor(options: AuditExporterOptions) {
    this.#options = options
    this.#windowSeconds = Math.min(MAX_WINDOW_SECONDS, options.holdSeconds)
  }

  get counts(): { readonly records: number; readonly failures: number } {
    return { records: this.#records, failures: this.#failures }
  }

  async start(): Promise<void> {
    const { db, serverId } = this.#options
    await store.dropLeasesOf(db, serverId)
    this.#loop ??= this.#run()
  }

  /** Call it when a destination was changed. */
  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('The server is stopping'))
    this.#wake?.()
    await this.#loop
    await Promise.allSettled(this.#running)
  }

  async #run(): Promise<void> {
    const { db, serverId, log } = this.#options
    while (!this.#closing.signal.aborted) {
      let waitMs = MAX_IDLE_MS
      this.#isWoken = false
      try {
        if (this.#running.size < MAX_AT_ONCE) {
          const lease = await store.claimDue(db, { serverId, leaseSeconds: LEASE_SECONDS })
          if (lease) {
            this.#track(this.#work(lease))
            continue
          }
          const due = await store.nextDueInSeconds(db)
          if (due !== null) waitMs = Math.min(MAX_IDLE_MS, Math.max(MIN_IDLE_MS, due * 1000))
        }
      } catch (error) {
        log.warn({ err: error }, 'cannot find the destinations of the audit log that are due')
        waitMs = RETRY_MS
      }
      await this.#sleep(waitMs)
    }
  }

  async #sleep(ms: number): Promise<void> {
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    if (this.#closing.signal.aborted || this.#isWoken) return
    await pause(ms, woken.signal)
    this.#wake = undefined
  }

  #track(work: Promise<void>): void {
    this.#running.add(work)
    const done = () => {
      this.#running.delete(work)
      this.wake()
    }
    work.then(done, done)
  }

  async #work(lease: ExportLease): Promise<void> {
    const { db, log } = this.#options
    const { id } = lease.destination
    const lost = new AbortController()
    const renewing = setInterval(() => void this.#renew(lease, lost), RENEW_MS)
    using broken = joinSignals(this.#closing.signal, lost.signal)
    try {
      await this.#exportAll(lease, broken.signal)
    } catch (error) {
      if (broken.signal.aborted) return
      this.#failures++
      log.warn({ err: error, destinationId: id }, 'cannot export the audit log')
      await this.#fail(lease, error).catch((failed: unknown) =>
        log.warn({ err: failed, destinationId: id }, 'cannot store why the export failed'),
      )
    } finally {
      clearInterval(renewing)
      await store
        .releaseLease(db, lease)
        .catch((error: unknown) =>
          log.warn({ err: error, destinationId: id }, 'cannot release a destination; its lease runs out'),
        )
    }
  }

  /** While the database is away nobody can take the lease, so only an answer ends the work. */
  async #renew(lease: ExportLease, lost: AbortController): Promise<void> {
    const { db, log } = this.#options
    try {
      if (await store.renewLease(db, lease, LEASE_SECONDS)) return
      lost.abort(new Error('Another server exports to this destination'))
    } catch (error) {
      log.warn({ err: error, destinationId: lease.destination.id }, 'cannot renew the lease of a destination')
    }
  }

  async #exportAll(lease: ExportLease, signal: AbortSignal): Promise<void> {
    const { db, holdSeconds, flush } = this.#options
    await flush()
    for (let turn = 0; turn < MAX_WINDOWS_IN_TURN && !signal.aborted; turn++) {
      const window = await store.openWindow(db, lease, { holdSeconds, windowSeconds: this.#windowSeconds })
      if (!window || !(await this.#exportWindow(lease, window, signal))) return
    }
  }

  /** False when the destination was changed or taken meanwhile. */
  async #exportWindow(lease: ExportLease, opened: ExportWindow, signal: AbortSignal): Promise<boolean> {
    const { db, writer } = this.#options
    const { destination } = lease
    let window = opened
    for (;;) {
      const { body, rows, last, isLast } = await buildChunk(
        (after, limit) => store.readWindow(db, window, { after, limit, signal }),
        window.after,
        { batch: BATCH },
      )
      signal.throwIfAborted()
      if (body) {
        await writer.write(destination, objectKey(destination, window), body, signal)
        crashPoint('audit-export-written')
        this.#records += rows
      }
      const reached = isLast ? undefined : last
      const isKept = await store.keepProgress(db, lease, {
        isWritten: body !== undefined,
        last: reached,
        cursor: cursorOf(reached ?? { recordedAt: window.end, id: '0' }),
      })
      crashPoint('audit-export-kept')
      if (!isKept) return false
      if (!reached) return true
      window = { ...window, chunk: window.chunk + 1, after: reached }
    }
  }

  async #fail(lease: ExportLease, error: unknown): Promise<void> {
    const message =
      error instanceof WriteFailure
        ? error.message
        : 'Cannot read the audit log; the log of the server says why'
    await store.keepFailure(this.#options.db, lease, { message, ...WAITS })
  }
}

const cursorOf = ({ recordedAt, id }: { recordedAt: string; id: string }) =>
  Buffer.from(`${recordedAt}/${id}`).toString('base64url')
