// What has just failed in one instance, for telemetry: a browser tells of a failed connection, and not why.
import type { ProxyErrorCode } from '@berth/contracts/telemetry-events'
import type { EgressRefusal } from './refusal.ts'

export interface Failure {
  readonly code: ProxyErrorCode
  readonly status: number
}

interface Place {
  readonly host: string
  /** Undefined when the name itself cannot be resolved. */
  readonly port?: number
}

/** The browser reports its failure a moment later. */
const KEPT_MS = 10_000
const MAX_FAILURES = 256

export class RecentFailures {
  readonly #byPlace = new Map<string, Failure & { readonly at: number }>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  remember(place: Place, { proxyError: code, status }: EgressRefusal): void {
    if (!code) return
    const key = keyOf(place)
    // Set anew, so that the oldest is first.
    this.#byPlace.delete(key)
    this.#byPlace.set(key, { code, status, at: this.#now() })
    const [oldest] = this.#byPlace.keys()
    if (this.#byPlace.size > MAX_FAILURES) this.#byPlace.delete(oldest!)
  }

  find({ host, port }: { host: string; port: number }): Failure | undefined {
    const found = this.#byPlace.get(keyOf({ host, port })) ?? this.#byPlace.get(keyOf({ host }))
    if (!found || this.#now() - found.at > KEPT_MS) return undefined
    const { code, status } = found
    return { code, status }
  }
}

const keyOf = ({ host, port = 0 }: Place) => `${host} ${port}`
