// Sends the requests of callers, a few at a time. Their targets are kept for the next requests, and closed after some
// idle time.
import { Semaphore } from '@berth/kit/semaphore'
import type { Chromium } from '../../chromium/chromium.ts'
import type { Settings } from '../../instance/settings.ts'
import { ControlError } from '../calls/operation.ts'
import { Exchange, type Head, type Wanted } from './exchange.ts'
import { requestFailed } from './failure.ts'
import { Targets, type Target } from './targets.ts'

/** Each concurrent request needs a renderer. */
const MAX_AT_ONCE = 4
const MAX_WAITING = 64
const CHROMIUM_MS = 15_000
const IDLE_MS = 30_000

export interface RequestsParts {
  readonly settings: Settings
  readonly chromium: Pick<Chromium, 'whenOpen'>
}

export interface SendOptions {
  /** Limit until the response begins, and between its pieces. */
  readonly timeoutMs: number
  /** Fires when the caller has left. */
  readonly signal: AbortSignal
}

export interface Answer extends Head {
  readonly body: AsyncIterable<Buffer>
}

/** A target in use. */
interface Seat {
  readonly target: Target
  /** Says whether the target can be used again. Only the first call counts. */
  readonly leave: (state: 'whole' | 'broken') => void
}

export class Requests {
  readonly #parts: RequestsParts
  readonly #turns = new Semaphore(MAX_AT_ONCE)
  #waiting = 0
  #inUse = 0
  #targets: Promise<Targets> | undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor(parts: RequestsParts) {
    this.#parts = parts
  }

  async send(wanted: Wanted, { timeoutMs, signal }: SendOptions): Promise<Answer> {
    const seat = await this.#sit(signal)
    const { target, leave } = seat
    // Otherwise a body that nobody starts to read would never end.
    signal.addEventListener('abort', () => leave('broken'), { once: true })
    if (signal.aborted) leave('broken')
    const exchange = new Exchange(target, wanted)
    target.onEvent = (event) => exchange.take(event)
    try {
      const head = await within(exchange.begin(), { ms: timeoutMs, signal })
      return { ...head, body: bodyOf(exchange, { seat, timeoutMs, signal }) }
    } catch (error) {
      leave('broken')
      throw error
    }
  }

  async #sit(signal: AbortSignal): Promise<Seat> {
    if (this.#waiting >= MAX_WAITING) {
      throw new ControlError(
        'too_many_requests',
        `Cannot send this: ${MAX_WAITING} others wait for their turn`,
      )
    }
    this.#waiting++
    const turn = await this.#turns.enter(signal).finally(() => this.#waiting--)
    this.#inUse++
    clearTimeout(this.#idleTimer)
    const stand = () => {
      turn[Symbol.dispose]()
      if (--this.#inUse === 0) this.#rest()
    }
    try {
      const targets = await this.#open()
      const target = await targets.take()
      let isOver = false
      const leave: Seat['leave'] = (state) => {
        if (isOver) return
        isOver = true
        if (state === 'whole') targets.giveBack(target)
        else targets.discard(target)
        stand()
      }
      return { target, leave }
    } catch (error) {
      stand()
      throw error instanceof ControlError
        ? error
        : new ControlError('unavailable', 'Cannot send this: Chromium does not answer', { cause: error })
    }
  }

  async #open(): Promise<Targets> {
    const { chromium, settings } = this.#parts
    const { devtools_path: path } = await chromium.whenOpen(CHROMIUM_MS)
    if (path === null) throw new ControlError('unavailable', 'Cannot send this: Chromium is not ready')
    const known = await this.#targets?.catch(() => undefined)
    if (known && !known.isClosed) return known
    return (this.#targets = Targets.open(settings.ports.devtools, path))
  }

  #rest(): void {
    this.#idleTimer = setTimeout(() => {
      void this.#targets?.then((targets) => targets.close()).catch(() => {})
      this.#targets = undefined
    }, IDLE_MS)
    this.#idleTimer.unref()
  }
}

async function* bodyOf(
  exchange: Exchange,
  { seat, timeoutMs: ms, signal }: SendOptions & { seat: Seat },
): AsyncGenerator<Buffer> {
  try {
    for (const pieces = exchange.body(); ;) {
      const { done, value } = await within(pieces.next(), { ms, signal })
      if (done) break
      yield value
    }
    await within(exchange.finish(), { ms, signal })
    seat.leave('whole')
  } finally {
    seat.leave('broken')
  }
}

async function within<T>(work: Promise<T>, { ms, signal }: { ms: number; signal: AbortSignal }): Promise<T> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason as Error)
  const timer = setTimeout(() => reject(requestFailed(`${ms} ms are over`, 'ERR_TIMED_OUT')), ms)
  signal.addEventListener('abort', onAbort)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}
