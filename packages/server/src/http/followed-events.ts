// Follows something in the database as server-sent events: first its current state, then every change, until it ends.
// Any number of readers on any server.
import { Readable } from 'node:stream'
import { KeyedChanges } from '@berth/kit/keyed-changes'
import { pause } from '@berth/kit/pause'
import { SSE_HEARTBEAT_MS, sseComment, sseEvent, sseNamedEvent } from '@berth/kit/sse'
import { AppError } from '../platform/errors/app-error.ts'

/** Announcements may be missed while their connection is down. */
const LOOK_EVERY_MS = 2_000
const RETRY_MS = 1_000
const MAX_STREAMS = 1_000

export interface Followed {
  readonly event: string
  readonly timestamp?: string
}

/** Yields what is new since the last look, and returns what to do next. */
export type Look = () => AsyncGenerator<Followed, 'look again' | 'wait' | 'end'>

export class FollowedEvents {
  readonly #heartbeatMs: number
  readonly #changes = new KeyedChanges()
  #count = 0

  readonly #textOf: (value: Followed) => string

  /** `isNamed`: for readers that go by the name of an event instead of its JSON. */
  constructor({
    heartbeatMs = SSE_HEARTBEAT_MS,
    isNamed = false,
  }: { heartbeatMs?: number; isNamed?: boolean } = {}) {
    this.#heartbeatMs = heartbeatMs
    this.#textOf = isNamed ? sseNamedEvent : sseEvent
  }

  /** Call it when there may be something new. */
  changed(key: string): void {
    this.#changes.changed(key)
  }

  follow(key: string, look: Look): Readable {
    if (this.#count >= MAX_STREAMS) {
      throw new AppError('too_many_requests', 'Cannot follow it: too many streams are open on this server', {
        headers: { 'retry-after': '5' },
      })
    }
    this.#count++
    const closing = new AbortController()
    const stream = Readable.from(this.#texts(key, look, closing.signal), { objectMode: false })
    stream.once('close', () => {
      this.#count--
      closing.abort()
    })
    return stream
  }

  async *#texts(key: string, look: Look, signal: AbortSignal): AsyncGenerator<string> {
    yield sseComment('following')
    let quietSince = performance.now()
    const timeoutMs = Math.min(LOOK_EVERY_MS, this.#heartbeatMs)
    while (!signal.aborted) {
      using change = this.#changes.next(key, { timeoutMs, signal })
      try {
        const looking = look()
        let step = await looking.next()
        for (; !step.done; step = await looking.next()) {
          quietSince = performance.now()
          yield this.#textOf(step.value)
        }
        if (step.value === 'end') return
        if (step.value === 'look again') continue
      } catch {
        // The database is down; continue when it is back.
        await pause(RETRY_MS, signal)
      }
      if (performance.now() - quietSince >= this.#heartbeatMs) {
        quietSince = performance.now()
        yield this.#textOf({ event: 'sse_heartbeat', timestamp: new Date().toISOString() })
      }
      await change.happened
    }
  }
}
