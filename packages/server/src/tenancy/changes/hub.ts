// Tells readers what changed. All readers of this server share one look at the database each second and one query for
// the projects of a batch. While nobody follows, nothing runs and nothing is remembered.
import type { Readable } from 'node:stream'
import type { Logger } from 'pino'
import type { ChangeKind } from '@berth/contracts/changes'
import { KeyedLimit } from '@berth/kit/keyed-limit'
import { SSE_HEARTBEAT_MS } from '@berth/kit/sse'
import type { Principal } from '../../http/principal.ts'
import type { ChangeListener } from '../../platform/database/listener.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { LiveLook } from './live-look.ts'
import { PendingChanges, type Changed } from './pending-changes.ts'
import { ChangeReader } from './reader.ts'
import type { ChangeSources, Owner } from './types.ts'

const LOOK_EVERY_MS = 1_000
/** At most so many batches: an event of each kind to each reader. */
const BATCH_EVERY_MS = 500
/** A change is often announced twice, by the server itself and through the database; this makes it one event. */
const GATHER_MS = 50
const MAX_READERS = 200
const MAX_READERS_PER_PROJECT = 50

interface HubOptions {
  readonly db: Db
  readonly listener: Pick<ChangeListener, 'isListening' | 'beginnings'>
  readonly sources: ChangeSources
  readonly log: Logger
  readonly heartbeatMs?: number
}

/** Exists while somebody follows. */
interface Running {
  readonly timers: NodeJS.Timeout[]
  look: LiveLook
  isLooking: boolean
  /** Changes may have been missed since the last `hello`. */
  isBlind: boolean
  beginnings: number
}

export class ChangeHub {
  readonly #options: HubOptions
  readonly #readers = new Set<ChangeReader>()
  /** Null for those of the whole organisation. */
  readonly #places = new KeyedLimit<string | null>(MAX_READERS_PER_PROJECT)
  readonly #pending = new PendingChanges()
  #starting: Promise<void> | undefined
  #running: Running | undefined
  #batchTimer: NodeJS.Timeout | undefined
  #lastBatchAt = 0
  #isClosed = false

  constructor(options: HubOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#readers.size
  }

  async follow(principal: Principal, projectId: string | null, signal: AbortSignal): Promise<Readable> {
    if (this.#isClosed) throw isStopping()
    if (this.#readers.size >= MAX_READERS) throw tooMany(MAX_READERS, 'on this server')
    const place = this.#places.enter(projectId)
    if (!place) throw tooMany(MAX_READERS_PER_PROJECT, 'with keys of the same project')
    const reader = new ChangeReader(principal, projectId)
    this.#readers.add(reader)
    reader.once('close', () => {
      place[Symbol.dispose]()
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#stop()
    })
    try {
      // What changes after the first look is found by the next one, so a client that reads its lists after `hello`
      // misses nothing.
      await (this.#starting ??= this.#start())
      signal.throwIfAborted()
      if (this.#isClosed) throw isStopping()
    } catch (error) {
      reader.destroy()
      throw error
    }
    reader.hello()
    return reader
  }

  /** Call it when something may have changed. Leave the owner out where it is not known. */
  changed(kind: ChangeKind, id: string, owner?: Owner): void {
    if (this.#readers.size === 0) return
    this.#pending.add(kind, id, owner ?? this.#running?.look.find({ kind, id })?.projectId ?? owner)
    this.#schedule()
  }

  /** Something of this kind changed, and nobody knows what. */
  someChanged(kind: ChangeKind): void {
    if (this.#readers.size === 0) return
    this.#pending.addMany(kind)
    this.#schedule()
  }

  /** Anything may have changed. */
  everythingChanged(): void {
    if (this.#readers.size === 0) return
    this.#pending.addEverything()
    this.#schedule()
  }

  #greeted(): ChangeReader[] {
    return [...this.#readers].filter(({ isGreeted }) => isGreeted)
  }

  async #start(): Promise<void> {
    const { listener, heartbeatMs = SSE_HEARTBEAT_MS } = this.#options
    const { beginnings } = listener
    try {
      const look = await this.#read()
      // Everybody left meanwhile.
      if (this.#readers.size === 0) return
      this.#running = {
        look,
        beginnings,
        isLooking: false,
        isBlind: false,
        timers: [
          setInterval(() => void this.#look(), LOOK_EVERY_MS).unref(),
          setInterval(() => this.#greeted().forEach((reader) => reader.heartbeat()), heartbeatMs).unref(),
        ],
      }
    } finally {
      if (!this.#running) this.#starting = undefined
    }
  }

  #stop(): void {
    if (this.#running) {
      this.#running.timers.forEach((timer) => clearInterval(timer))
      this.#running = undefined
      this.#starting = undefined
    }
    clearTimeout(this.#batchTimer)
    this.#batchTimer = undefined
    this.#pending.take()
  }

  async #read(): Promise<LiveLook> {
    const { db, sources } = this.#options
    return new LiveLook((await Promise.all(sources.live.map((read) => read(db)))).flat())
  }

  async #look(): Promise<void> {
    const running = this.#running
    if (!running || running.isLooking) return
    running.isLooking = true
    const { isListening, beginnings } = this.#options.listener
    try {
      const look = await this.#read()
      if (running !== this.#running) return
      for (const { kind, id, projectId } of look.since(running.look)) this.changed(kind, id, projectId)
      running.look = look
      if (!isListening) running.isBlind = true
      else if (running.isBlind || beginnings !== running.beginnings) {
        Object.assign(running, { beginnings, isBlind: false })
        this.everythingChanged()
      }
    } catch (error) {
      if (!running.isBlind)
        this.#options.log.warn({ err: error }, 'cannot see what changed; readers are told later')
      running.isBlind = true
    } finally {
      running.isLooking = false
    }
  }

  #schedule(): void {
    const sinceLast = performance.now() - this.#lastBatchAt
    this.#batchTimer ??= setTimeout(
      () => void this.#batch(),
      Math.max(GATHER_MS, BATCH_EVERY_MS - sinceLast),
    ).unref()
  }

  async #batch(): Promise<void> {
    const running = this.#running
    const timer = this.#batchTimer
    const { kinds, isEverything } = this.#pending.take()
    try {
      if (isEverything) this.#greeted().forEach((reader) => reader.hello())
      else {
        for (const [kind, changed] of kinds) {
          const named = await this.#withOwners(kind, changed)
          for (const reader of this.#greeted()) reader.tell(kind, named)
        }
      }
    } catch (error) {
      this.#options.log.debug({ err: error }, 'cannot read whose changes these are; readers are told later')
      if (running) running.isBlind = true
    }
    // All have left, and others may have come: then this is not their batch.
    if (timer !== this.#batchTimer) return
    this.#lastBatchAt = performance.now()
    this.#batchTimer = undefined
    if (!this.#pending.isEmpty) this.#schedule()
  }

  /** Asks the database only if a reader of one project waits for it. */
  async #withOwners(kind: ChangeKind, changed: Changed): Promise<Changed> {
    const find = this.#options.sources.projectsOf[kind]
    if (changed === 'many' || !find) return changed
    if (![...this.#readers].some((reader) => !reader.hearsAll && reader.hears(kind))) return changed
    const unknown = [...changed].filter(([, owner]) => owner === undefined).map(([id]) => id)
    if (unknown.length === 0) return changed
    const found = await find(this.#options.db, unknown)
    return new Map([...changed].map(([id, owner]) => [id, owner ?? found.get(id)]))
  }

  /** Ends all streams; clients connect to another server, or again. */
  close(): void {
    this.#isClosed = true
    for (const reader of this.#readers) reader.end()
  }
}

const isStopping = () =>
  new AppError('unavailable', 'Cannot follow changes: the server is stopping; try again')

const tooMany = (max: number, where: string) =>
  new AppError(
    'too_many_requests',
    `Cannot follow changes: ${max} others follow them ${where}; close one, or try again later`,
    { headers: { 'retry-after': '5' } },
  )
