// A server renews the instance's lease; when the lease lapses, the instance ends itself. Time spent
// frozen must not count, but every clock keeps running while frozen. So the lease counts its own ticks,
// and a late tick counts no more than any other.
const TICK_MS = 500
const MAX_TICK_MS = 2_000

export class Lease {
  readonly #onLapsed: () => void
  #leftMs: number
  #lastTickAt = performance.now()
  readonly #timer: NodeJS.Timeout

  constructor({ seconds, onLapsed }: { seconds: number; onLapsed: () => void }) {
    this.#leftMs = seconds * 1000
    this.#onLapsed = onLapsed
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
  }

  renew(seconds: number): void {
    this.#leftMs = seconds * 1000
    this.#lastTickAt = performance.now()
  }

  #tick(): void {
    const now = performance.now()
    this.#leftMs -= Math.min(MAX_TICK_MS, now - this.#lastTickAt)
    this.#lastTickAt = now
    if (this.#leftMs > 0) return
    clearInterval(this.#timer)
    this.#onLapsed()
  }
}
