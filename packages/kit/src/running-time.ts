// Measures the time in which this process ran. While a process is stopped or its machine sleeps, it cannot hear from
// others, so that time must not count as their silence. Time is counted in ticks, and a late tick counts for little.
const TICK_MS = 250
const MAX_TICK_MS = 500

export class RunningTime implements Disposable {
  #ms = 0
  #lastTickAt = performance.now()
  readonly #timer: NodeJS.Timeout

  constructor() {
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref()
  }

  /** Milliseconds that the process ran since construction. */
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
