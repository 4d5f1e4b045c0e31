// Time in which this process ran. A process that was stopped, or whose machine slept, has not waited for anybody
// meanwhile: what it would call somebody's silence was its own. So time is counted in ticks, and a late one is
// worth little.
const TICK_MS = 250
const MAX_TICK_MS = 500

export class WakingTime implements Disposable {
  #ms = 0
  #lastTickAt = performance.now()
  readonly #timer: NodeJS.Timeout

  constructor() {
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref()
  }

  /** Milliseconds since an unimportant moment. */
  now(): number {
    this.#tick()
    return this.#ms
  }

  #tick(): void {
    const now = performance.now()
    this.#ms += Math.min(MAX_TICK_MS, now - this.#lastTickAt)
    this.#lastTickAt = now
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
