// The recordings of this server's sessions, from the first record to the video, also across a restart.
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import type { ReplayEnd } from '@berth/contracts/replays'
import { FairTurns } from '@berth/kit/fair-turns'
import type { Blobs } from '../../platform/blobs/blobs.ts'
import type { LiveSession } from '../browsers/live-session.ts'
import { awake } from '../session/session.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { forgetRecording } from '../../instances/agent/recordings.ts'
import type { StorageLimits } from '../../tenancy/storage/storage-limits.ts'
import { roomFor } from '../../tenancy/storage/use.ts'
import { assemble } from './assembly.ts'
import { Collector } from './collector.ts'
import type { Journals } from './journal.ts'
import * as store from './store.ts'
import type { ReplayRecord } from './types.ts'

const RECONCILE_MS = 10_000
/** A row in state starting for longer than this was abandoned. */
const START_MS = 60_000
/** Added to the lease: a server that is silent for longer counts as lost. */
const LOST_MARGIN_SECONDS = 30
const CLOSE_MS = 2_000
const FINISH_MS = 15_000
const BLOB_KIND = 'replay'

export interface RecordingsOptions {
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly blobs: Blobs
  readonly storage: StorageLimits
  readonly journals: Journals
  readonly serverId: string
  readonly leaseSeconds: number
  readonly maxBytes: number
  /** Finds only sessions of this server. */
  readonly findHere: (sessionId: string) => LiveSession | undefined
  readonly log: Logger
}

export const keyContext = (id: string) => `replays/sealed_key/${id}`
export const chaptersContext = (id: string) => `replays/chapters/${id}`
export const videoContext = (id: string) => `replays/video/${id}`

export class Recordings {
  readonly #options: RecordingsOptions
  readonly #collectors = new Map<string, Collector>()
  readonly #finishing = new Map<string, Promise<void>>()
  /** One at a time: assembly takes long and is not urgent. Projects take turns. */
  readonly #assembling = new FairTurns({
    atOnce: 1,
    atOncePerKey: 1,
    maxWaitingPerKey: Number.POSITIVE_INFINITY,
  })
  readonly #closing = new AbortController()
  readonly #timer: NodeJS.Timeout

  constructor(options: RecordingsOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#reconcile(), RECONCILE_MS)
    this.#timer.unref()
  }

  get count(): number {
    return this.#collectors.size
  }

  /** Continues after an earlier run: collects running recordings and assembles the others. */
  async resume(): Promise<void> {
    const { db, journals, log } = this.#options
    const left = await store.listById(db, await journals.list())
    for (const replay of left) {
      if (replay.state === 'ready') await journals.remove(replay.id)
      // Another server gave it up while this one was down.
      else if (replay.state === 'failed') void this.#finish(replay, 'interrupted')
    }
    await this.#reconcile({ isStart: true })
    if (left.length > 0) log.info({ recordings: left.length }, 'recordings resumed')
  }

  /** Called when a recording of a session may have started or stopped. */
  async look(sessionId: string): Promise<void> {
    const { db, findHere, log } = this.#options
    if (!findHere(sessionId)) return
    try {
      for (const replay of await store.listOfBrowser(db, sessionId)) {
        if (replay.state === 'recording') this.collect(replay)
        else if (replay.state === 'finishing')
          this.#collectors.get(replay.id)?.end(replay.end_reason ?? 'stopped')
      }
    } catch (error) {
      log.warn({ err: error, sessionId }, 'cannot read the changes in the recordings of a session')
    }
  }

  /** Starts to collect records if the session runs on this server. */
  collect(replay: ReplayRecord): void {
    const { journals, findHere, log, maxBytes } = this.#options
    const session = findHere(replay.browser_id)
    if (!session || this.#collectors.has(replay.id) || this.#finishing.has(replay.id)) return
    if (this.#closing.signal.aborted) return
    const collector = new Collector({
      replayId: replay.id,
      startedAt: new Date(replay.started_at ?? replay.created_at),
      session,
      journal: journals.journal(replay.id, this.#keyOf(replay)),
      maxBytes,
      maxMs: replay.max_duration_seconds === null ? null : replay.max_duration_seconds * 1000,
      measure: (bytes) => this.#measure(replay, bytes),
      log,
    })
    this.#collectors.set(replay.id, collector)
    void collector.done.then((reason) => {
      const finishing = reason && this.#finish(replay, reason)
      this.#collectors.delete(replay.id)
      return finishing
    })
  }

  async #measure({ id, project_id: projectId }: ReplayRecord, bytes: number): Promise<boolean> {
    const { db, storage, log } = this.#options
    await store.setJournalBytes(db, id, bytes)
    const hasRoom = roomFor('replays', await storage.recentUse(projectId)) > 0
    if (!hasRoom) log.info({ replayId: id, projectId }, 'a recording stops: its project may not store more')
    return hasRoom
  }

  /** Ends the running recordings of a session; resolves when their last records have arrived. */
  async endAll(sessionId: string, reason: ReplayEnd): Promise<void> {
    const collectors = [...this.#collectors.values()].filter((each) => each.sessionId === sessionId)
    for (const collector of collectors) collector.end(reason)
    await Promise.all(collectors.map(({ done }) => done))
  }

  /** `finishes`: no later server has the journals, so what was recorded must become videos now. */
  async close({ finishes }: { finishes: boolean }): Promise<void> {
    clearInterval(this.#timer)
    for (const collector of this.#collectors.values()) {
      if (finishes) collector.end('interrupted')
      else collector.leave()
    }
    await Promise.all([...this.#collectors.values()].map(({ done }) => done))
    // Short videos finish in this time; the next server assembles the long ones.
    const timer = setTimeout(
      () => this.#closing.abort(new Error('The server stops')),
      finishes ? FINISH_MS : CLOSE_MS,
    )
    await Promise.all(this.#finishing.values())
    clearTimeout(timer)
  }

  #finish(replay: ReplayRecord, reason: ReplayEnd): Promise<void> {
    const known = this.#finishing.get(replay.id)
    if (known) return known
    const { log } = this.#options
    const finishing = this.#assemble(replay, reason)
      // Reconciliation finds the row and tries again.
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted)
          log.warn({ err: error, replayId: replay.id }, 'cannot finish a recording yet')
      })
      .finally(() => this.#finishing.delete(replay.id))
    this.#finishing.set(replay.id, finishing)
    return finishing
  }

  async #assemble(replay: ReplayRecord, reason: ReplayEnd): Promise<void> {
    const { db, pool, box, blobs, journals, log } = this.#options
    const { id } = replay
    await store.markFinishing(db, id, reason)
    crashPoint('replay-ended')
    using turn = new DisposableStack()
    turn.use(await this.#assembling.enter(replay.project_id, this.#closing.signal))
    const key = this.#keyOf(replay)
    const isThere = (await journals.list()).includes(id)
    const video =
      isThere &&
      (await assemble(journals.journal(id, key), {
        hasSound: replay.record_audio,
        blobs,
        lock: { key, context: videoContext(id) },
        createdAt: new Date(replay.started_at ?? replay.created_at),
        maxBytes: this.#options.maxBytes,
        signal: this.#closing.signal,
      }))
    crashPoint('replay-stored')
    if (video) {
      const chapters =
        video.chapters.length > 0 ? box.seal(JSON.stringify(video.chapters), chaptersContext(id)) : null
      await inTransaction(pool, async ({ db: tx }) => {
        await blobs.record(tx, BLOB_KIND, video.blob)
        await store.markReady(tx, id, { ...video, blobId: video.blob.id, chapters })
      })
    } else await store.markFailed(db, id)
    crashPoint('replay-recorded')
    await journals.remove(id)
    log.info({ replayId: id, reason, durationMs: video ? video.durationMs : 0 }, 'recording finished')
  }

  #keyOf({ id, sealed_key }: ReplayRecord): Buffer {
    return Buffer.from(this.#options.box.open(sealed_key, keyContext(id)), 'base64')
  }

  /** Removes a recording whose start was never confirmed to the caller. */
  async #abandon({ id, browser_id }: ReplayRecord): Promise<void> {
    const { db, findHere } = this.#options
    await store.deleteReplay(db, id)
    const session = findHere(browser_id)
    if (session) awake(session, (agent) => forgetRecording(agent, id)).catch(() => {})
  }

  /** Regularly repairs rows after missed announcements and lost servers. */
  async #reconcile({ isStart = false } = {}): Promise<void> {
    const { db, serverId, leaseSeconds, findHere, log } = this.#options
    try {
      for (const replay of await store.listUnfinished(db, serverId)) {
        const session = findHere(replay.browser_id)
        const isLive = session !== undefined && !session.ending.aborted
        if (this.#collectors.has(replay.id) || this.#finishing.has(replay.id)) continue
        if (replay.state === 'starting') {
          if (isStart || Date.now() - Date.parse(replay.created_at) > START_MS) await this.#abandon(replay)
        } else if (isLive) this.collect(replay)
        else void this.#finish(replay, 'session_ended')
      }
      await store.giveUpOfLostServers(db, leaseSeconds + LOST_MARGIN_SECONDS)
    } catch (error) {
      log.warn({ err: error }, 'cannot reconcile recordings')
    }
  }
}
