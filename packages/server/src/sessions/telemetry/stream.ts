// Streams events to one reader as server-sent events. This server writes the framing and each event as one line of
// JSON, so the content of one event cannot fake another.
import { Readable } from 'node:stream'
import type { IncomingHttpHeaders } from 'node:http'
import { pause } from '@berth/kit/pause'
import type { Session } from '../session/session.ts'
import { invalidInput } from '../../platform/errors/app-error.ts'
import { SSE_HEARTBEAT_MS, sseComment, sseEventOfJson } from '@berth/kit/sse'
import { isClientBefore } from '../../http/client-version.ts'
import type { Feed, SentLine, Tail } from './feed.ts'

/** A reader that reads nothing for this long is disconnected; it can reconnect and continue. */
const STALLED_MS = 30_000
/** How long to wait after the end of a session until all its events are stored. */
const LAST_EVENTS_MS = 5_000
const MAX_CHUNK_BYTES = 256 * 1024
const RETRY_MS = 500

export interface StreamOptions {
  readonly session: Session
  readonly feed: Feed
  readonly headers: IncomingHttpHeaders
  readonly replay: string | undefined
  readonly keepaliveMs?: number
  readonly onClose: () => void
}

export async function openStream(options: StreamOptions): Promise<Readable> {
  const { session, feed, headers, replay, onClose } = options
  using acquired = new DisposableStack()
  acquired.defer(onClose)
  const lastEventId = readLastEventId(headers)
  const { tail } = acquired.use(feed.follow(session.id))
  acquired.use(session.stayAwake())
  const newest = await tail.position()
  const held = acquired.move()
  const stream = new EventStream({
    tail,
    ending: session.ending,
    cursor: beginning({ lastEventId, replay, newest }),
    translate: translatorFor(headers),
    keepaliveMs: options.keepaliveMs ?? SSE_HEARTBEAT_MS,
  })
  stream.once('close', () => held.dispose())
  return stream
}

/** The header wins over `replay`. A client without any event sends 0, which starts now. */
function beginning(from: {
  lastEventId: number | undefined
  replay: string | undefined
  newest: number
}): number {
  const { lastEventId, replay, newest } = from
  if (lastEventId === undefined) return replay === 'all' ? 0 : newest
  return lastEventId === 0 ? newest : Math.min(lastEventId, newest)
}

function readLastEventId(headers: IncomingHttpHeaders): number | undefined {
  const value = headers['last-event-id']
  if (value === undefined || value === '') return undefined
  const text = String(value)
  if (!/^\d{1,20}$/.test(text)) throw invalidInput('Last-Event-ID', 'must be the id of an event')
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

type Translate = (line: string) => string

/** Clients before 0.59 knew no categories, those before 0.64 fewer. */
export function translatorFor(headers: IncomingHttpHeaders): Translate {
  if (!isClientBefore(headers, 64)) return (line) => line
  const hasCategories = !isClientBefore(headers, 59)
  return (line) => {
    const { seq, event } = JSON.parse(line) as { seq: number; event: { category?: string } }
    const { category, ...rest } = event
    const isLater = category === 'monitor' || category === 'screenshot'
    return JSON.stringify({
      seq,
      event: hasCategories ? { ...rest, category: isLater ? 'system' : category } : rest,
    })
  }
}

interface EventStreamOptions {
  readonly tail: Tail
  readonly ending: AbortSignal
  readonly cursor: number
  readonly translate: Translate
  readonly keepaliveMs: number
}

class EventStream extends Readable {
  readonly #options: EventStreamOptions
  readonly #closing = new AbortController()
  #cursor: number
  #isBusy = false
  #stalled: NodeJS.Timeout | undefined

  constructor(options: EventStreamOptions) {
    super({ highWaterMark: MAX_CHUNK_BYTES })
    this.#options = options
    this.#cursor = options.cursor
    // The response headers are sent with the first bytes, and clients wait for them.
    this.push(sseComment('listening'))
  }

  override _read(): void {
    clearTimeout(this.#stalled)
    if (this.#isBusy) return
    this.#isBusy = true
    this.#give().catch((error: unknown) => this.destroy(error as Error))
  }

  async #give(): Promise<void> {
    const text = await this.#next()
    this.#isBusy = false
    if (this.destroyed) return
    if (this.push(text) || text === null) return
    this.#stalled = setTimeout(() => this.destroy(), STALLED_MS)
  }

  /** Null at the end of the stream. */
  async #next(): Promise<string | null> {
    const { tail, ending, keepaliveMs, translate } = this.#options
    const deadline = performance.now() + keepaliveMs
    let endedAt: number | undefined
    for (;;) {
      if (this.#closing.signal.aborted) return null
      const events = await tail.after(this.#cursor).catch(() => undefined)
      if (events && events.length > 0) return this.#frames(events, translate)
      // The database is unreachable; try again later.
      if (!events) await pause(RETRY_MS, this.#closing.signal)
      if (ending.aborted) {
        endedAt ??= performance.now()
        // Read once more after the end, because the last events may have arrived in between.
        if (tail.hasEnded || !tail.hasEvents || performance.now() - endedAt > LAST_EVENTS_MS) {
          const last = await tail.after(this.#cursor).catch(() => [])
          return last.length > 0 ? this.#frames(last, translate) : null
        }
      }
      const left = Math.min(deadline - performance.now(), ending.aborted ? 200 : Infinity)
      if (left <= 0) return sseComment('still here')
      await this.#wait(left)
    }
  }

  async #wait(ms: number): Promise<void> {
    const { tail, ending } = this.#options
    const over = new AbortController()
    const stop = () => over.abort()
    const timer = setTimeout(stop, ms)
    const signals = ending.aborted ? [this.#closing.signal] : [this.#closing.signal, ending]
    for (const signal of signals) signal.addEventListener('abort', stop)
    try {
      await tail.changed(over.signal)
    } finally {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', stop)
    }
  }

  #frames(events: readonly SentLine[], translate: Translate): string {
    let text = ''
    for (const { seq, line } of events) {
      text += sseEventOfJson(translate(line), seq)
      this.#cursor = seq
      if (text.length > MAX_CHUNK_BYTES) break
    }
    return text
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#stalled)
    this.#closing.abort()
    done(error)
  }
}
