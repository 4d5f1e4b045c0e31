// Feeds the readers of a session on any server. Readers get events once they are stored, and each asks for the events
// after its last one. A fast reader finds them in memory, a slow one in the database, so slow readers cost no memory.
import type { EventCategory } from '@berth/contracts/telemetry-events'
import type { Db } from '../../platform/database/schema.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { SegmentSeal } from './sealing.ts'
import * as store from './store.ts'

export interface NumberedEvent {
  readonly seq: number
  readonly ts: number
  readonly category: EventCategory
  /** The event with its number, as JSON. */
  readonly line: string
}

export interface SentLine {
  readonly seq: number
  readonly line: string
}

const MAX_RECENT_BYTES = 1024 * 1024
const SEGMENTS_AT_ONCE = 16
/** Announcements may be missed while the connection for them is down. */
const LOOK_EVERY_MS = 2_000

export interface FeedOptions {
  readonly db: Db
  readonly box: SealedBox
}

export class Feed {
  readonly #options: FeedOptions
  readonly #tails = new Map<string, Tail>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: FeedOptions) {
    this.#options = options
  }

  /** Called when this server has stored events. */
  committed(sessionId: string, batch: { after: number; lastSeq: number; events: readonly SentLine[] }): void {
    this.#tails.get(sessionId)?.add(batch)
  }

  /** Called after the last event. */
  ended(sessionId: string): void {
    this.#tails.get(sessionId)?.end()
  }

  /** Announced by any server: `telemetry:<session>:<last number or end>`. */
  announced(sessionId: string, what: string): void {
    const tail = this.#tails.get(sessionId)
    if (what === 'end') tail?.end()
    else if (Number(what) > (tail?.newest ?? Infinity)) tail?.wake()
  }

  follow(sessionId: string): Following {
    const tail = this.#tails.get(sessionId) ?? new Tail(sessionId, this.#options)
    this.#tails.set(sessionId, tail)
    tail.readers++
    this.#timer ??= setInterval(() => {
      for (const each of this.#tails.values()) each.wake()
    }, LOOK_EVERY_MS).unref()
    return {
      tail,
      [Symbol.dispose]: () => {
        tail.readers--
        if (tail.readers > 0) return
        this.#tails.delete(sessionId)
        if (this.#tails.size > 0) return
        clearInterval(this.#timer)
        this.#timer = undefined
      },
    }
  }
}

export interface Following extends Disposable {
  readonly tail: Tail
}

/** The newest events of one session. */
export class Tail {
  readonly #sessionId: string
  readonly #options: FeedOptions
  readers = 0
  #seal: SegmentSeal | undefined
  /** All events after `from` are in memory. */
  #from = 0
  #newest = 0
  #recent: SentLine[] = []
  #recentBytes = 0
  /** The database may have newer events. */
  #isStale = true
  #looking: Promise<void> | undefined
  #hasEnded = false
  #waiting = new Set<() => void>()

  constructor(sessionId: string, options: FeedOptions) {
    this.#sessionId = sessionId
    this.#options = options
  }

  /** Number of the last known stored event. */
  get newest(): number {
    return this.#newest
  }

  /** True when no more events will come. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Whether anything was ever captured. */
  get hasEvents(): boolean {
    return this.#seal !== undefined
  }

  /** The last number in the database. */
  async position(): Promise<number> {
    await this.#look()
    return this.#newest
  }

  /** Some events after this number, the oldest first; empty when there are none yet. */
  async after(seq: number): Promise<readonly SentLine[]> {
    if (this.#isStale) await this.#look()
    if (seq >= this.#from) return this.#recent.filter((event) => event.seq > seq)
    return (await this.#read(seq)).filter((event) => event.seq > seq)
  }

  /** Resolves when there may be new events. */
  async changed(signal: AbortSignal): Promise<void> {
    if (this.#isStale || signal.aborted) return
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#waiting.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#waiting.add(done)
      signal.addEventListener('abort', done)
    })
  }

  add({ after, lastSeq, events }: { after: number; lastSeq: number; events: readonly SentLine[] }): void {
    if (lastSeq <= this.#newest) return
    // Earlier events are missing or being read, so read all from the database.
    if (this.#isStale || this.#looking || after !== this.#newest) return this.wake()
    this.#keep(events, lastSeq)
    this.#tell()
  }

  wake(): void {
    this.#isStale = true
    this.#tell()
  }

  end(): void {
    this.#hasEnded = true
    this.wake()
  }

  #tell(): void {
    for (const done of this.#waiting) done()
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #lookNow(): Promise<void> {
    const { db, box } = this.#options
    this.#isStale = false
    try {
      const isFirst = this.#seal === undefined
      const state = await store.findState(db, this.#sessionId)
      if (!state) return
      this.#hasEnded ||= state.hasEnded
      this.#seal ??= SegmentSeal.open(box, this.#sessionId, state.sealedKey)
      if (isFirst) {
        this.#from = state.lastSeq
        this.#newest = state.lastSeq
      }
      while (this.#newest < state.lastSeq) {
        const events = await this.#read(this.#newest)
        // The missing events may be older than retention allows.
        if (events.length === 0) this.#keep([], state.lastSeq)
        else this.#keep(events, events.at(-1)!.seq)
      }
    } catch (error) {
      this.#isStale = true
      throw error
    }
  }

  #keep(events: readonly SentLine[], lastSeq: number): void {
    this.#recent.push(...events)
    this.#newest = lastSeq
    this.#recentBytes += events.reduce((sum, { line }) => sum + line.length, 0)
    while (this.#recentBytes > MAX_RECENT_BYTES && this.#recent.length > 0) {
      const { seq, line } = this.#recent.shift()!
      this.#from = seq
      this.#recentBytes -= line.length
    }
  }

  async #read(after: number): Promise<SentLine[]> {
    const { db } = this.#options
    if (!this.#seal) return []
    const segments = await store.listSegments(db, this.#sessionId, {
      order: 'asc',
      from: after,
      limit: SEGMENTS_AT_ONCE,
    })
    const lines = await Promise.all(
      segments.map(({ payload, firstSeq }) =>
        this.#seal!.open(payload, { sessionId: this.#sessionId, firstSeq }),
      ),
    )
    return lines.flat().map((line) => ({ seq: seqOf(line), line }))
  }
}

/** Lines start with their number; see collector.ts. */
export function seqOf(line: string): number {
  return Number(line.slice('{"seq":'.length, line.indexOf(',')))
}
