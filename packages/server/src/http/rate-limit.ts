// The organisation's requests per minute, counted in fixed windows on each server separately:
// several replicas allow several times the limit. An exact count would cost a database round trip
// on every request.
import { AppError } from '../platform/errors/app-error.ts'

const WINDOW_MS = 60_000

export class RateLimit {
  readonly #perMinute: number
  readonly #now: () => number
  #windowStart: number
  #count = 0

  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute
    this.#now = now
    this.#windowStart = now()
  }

  /** Counts a request; returns the headers to send, or throws when the window is full. */
  take(): Record<string, string> | undefined {
    if (this.#perMinute === 0) return undefined
    const elapsed = this.#now() - this.#windowStart
    if (elapsed >= WINDOW_MS) {
      this.#windowStart = this.#now()
      this.#count = 0
    }
    const headers = (remaining: number) => ({
      'x-ratelimit-limit': String(this.#perMinute),
      'x-ratelimit-remaining': String(remaining),
    })
    if (this.#count >= this.#perMinute) {
      const seconds = Math.max(1, Math.ceil((WINDOW_MS - elapsed) / 1000))
      throw new AppError(
        'too_many_requests',
        `Cannot take the request: ${this.#perMinute} requests a minute are used up; retry in ${seconds} s`,
        { headers: { ...headers(0), 'retry-after': String(seconds) } },
      )
    }
    this.#count++
    return headers(this.#perMinute - this.#count)
  }
}
