// Turns at something scarce, shared by keys: so many at once, and so many of them for one key. Those that wait get
// their turns key by key, so a key with a long queue delays only itself.

/** The key, or all keys together, have too many that wait already. */
export class TooManyWaiting extends Error {}

export interface FairTurnsOptions {
  readonly atOnce: number
  readonly atOncePerKey: number
  readonly maxWaitingPerKey: number
  /** When so many wait for all keys, only a key with less than its share of them may wait. Unlimited by default. */
  readonly maxWaiting?: number
}

export class FairTurns<Key = string> {
  readonly #options: FairTurnsOptions
  readonly #running = new Map<Key, number>()
  /** The key that has waited longest for a turn is first. */
  readonly #waiting = new Map<Key, Set<() => void>>()
  #count = 0
  #waitingCount = 0

  constructor(options: FairTurnsOptions) {
    this.#options = options
  }

  /** Rejects with TooManyWaiting, or with the signal's reason if it fires while waiting. Dispose of the result to leave. */
  async enter(key: Key, signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted()
    if (this.#mayRun(key)) this.#begin(key)
    else await this.#wait(key, signal)
    let isInside = true
    return {
      [Symbol.dispose]: () => {
        if (!isInside) return
        isInside = false
        this.#end(key)
      },
    }
  }

  #mayRun(key: Key): boolean {
    const { atOnce, atOncePerKey } = this.#options
    return this.#count < atOnce && (this.#running.get(key) ?? 0) < atOncePerKey
  }

  #begin(key: Key): void {
    this.#count++
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1)
  }

  #end(key: Key): void {
    this.#count--
    const left = this.#running.get(key)! - 1
    if (left > 0) this.#running.set(key, left)
    else this.#running.delete(key)
    this.#startNext()
  }

  #startNext(): void {
    for (const [key, queue] of this.#waiting) {
      if (!this.#mayRun(key)) continue
      const [next] = queue
      // Behind all others, so that the next turn is theirs.
      this.#waiting.delete(key)
      if (queue.size > 1) this.#waiting.set(key, queue)
      this.#begin(key)
      next!()
      return
    }
  }

  /** For a key of which so many wait already. */
  #mayWait(count: number): boolean {
    const { maxWaiting = Number.POSITIVE_INFINITY, maxWaitingPerKey } = this.#options
    if (count >= maxWaitingPerKey) return false
    const keys = this.#waiting.size + (count === 0 ? 1 : 0)
    return this.#waitingCount < maxWaiting || count < Math.floor(maxWaiting / keys)
  }

  #wait(key: Key, signal: AbortSignal | undefined): Promise<void> {
    const queue = this.#waiting.get(key) ?? new Set()
    if (!this.#mayWait(queue.size)) return Promise.reject(new TooManyWaiting())
    this.#waiting.set(key, queue)
    this.#waitingCount++
    return new Promise((resolve, reject) => {
      const settle = () => {
        queue.delete(enter)
        this.#waitingCount--
        if (queue.size === 0 && this.#waiting.get(key) === queue) this.#waiting.delete(key)
        signal?.removeEventListener('abort', leave)
      }
      const enter = () => {
        settle()
        resolve()
      }
      const leave = () => {
        settle()
        reject(signal!.reason as Error)
      }
      queue.add(enter)
      signal?.addEventListener('abort', leave)
    })
  }
}
