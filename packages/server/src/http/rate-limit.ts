// Requests per minute: so many for each project, so that a busy one uses up only its own. Counted in fixed windows on
// each server separately: several replicas allow several times the limit. An exact count would cost a database round
// trip on every request.
import { AppError } from '../platform/errors/app-error.ts'

const WINDOW_MS = 60_000
/** The share of requests that are for no project in particular. */
const WITHOUT_PROJECT = ''

export class RateLimit {
  readonly #perMinute: number
  readonly #now: () => number
  #windowStart: number
  /** Of this window, so it has only projects that sent something lately. */
  readonly #countOf = new Map<string, number>()

  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute
    this.#now = now
    this.#windowStart = now()
  }

  /** Counts a request; returns the headers to send, or throws when the project's window is full. */
  take(projectId: string | null): Record<string, string> | undefined {
    if (this.#perMinute === 0) return undefined
    const elapsed = this.#now() - this.#windowStart
    if (elapsed >= WINDOW_MS) {
      this.#windowStart = this.#now()
      this.#countOf.clear()
    }
    const share = projectId ?? WITHOUT_PROJECT
    const count = this.#countOf.get(share) ?? 0
    const headers = (remaining: number) => ({
      'x-ratelimit-limit': String(this.#perMinute),
      'x-ratelimit-remaining': String(remaining),
    })
    if (count >= this.#perMinute) {
      const seconds = Math.max(1, Math.ceil((WINDOW_MS - elapsed) / 1000))
      const whose = projectId === null ? 'without a project' : 'of the project'
      throw new AppError(
        'too_many_requests',
        `Cannot take the request: ${this.#perMinute} requests a minute ${whose} are used up; retry in ${seconds} s`,
        { headers: { ...headers(0), 'retry-after': String(seconds) } },
      )
    }
    this.#countOf.set(share, count + 1)
    return headers(this.#perMinute - count - 1)
  }
}
