// The look-ups of one session: so many at once, so many waiting, each with a deadline. A session that asks for names
// that never answer makes only itself wait.
import { Semaphore } from '@berth/kit/semaphore'
import { EgressRefusal } from './refusal.ts'

/** All addresses of a name, in the order to try them. */
export type Lookup = (name: string) => Promise<readonly string[]>

export interface LookupsOptions {
  readonly lookup: Lookup
  readonly timeoutMs: number
  /** Look-ups that timed out here count until they have really ended. */
  readonly maxAtOnce: number
  readonly maxWaiting: number
  /** The turn of the session's project, which its sessions share. */
  readonly turn?: ((signal: AbortSignal) => Promise<Disposable>) | undefined
}

export class Lookups {
  readonly #options: LookupsOptions
  readonly #places: Semaphore
  readonly #underWay = new Map<string, Promise<readonly string[]>>()

  constructor(options: LookupsOptions) {
    this.#options = options
    this.#places = new Semaphore(options.maxAtOnce)
  }

  /** At least one address; rejects with EgressRefusal, or with the signal's reason. */
  async addressesOf(name: string, signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted()
    const timeout = AbortSignal.timeout(this.#options.timeoutMs)
    const given = AbortSignal.any([signal, timeout])
    const addresses = await new Promise<readonly string[]>((resolve, reject) => {
      given.addEventListener('abort', () => {
        if (signal.aborted) reject(signal.reason as Error)
        else reject(lateLookup(name))
      })
      this.#shared(name).then(resolve, reject)
    })
    if (addresses.length === 0) throw unresolved(name)
    return addresses
  }

  /** Concurrent requests for one name share one look-up. */
  #shared(name: string): Promise<readonly string[]> {
    const shared = this.#underWay.get(name)
    if (shared) return shared
    const { maxAtOnce, maxWaiting } = this.#options
    if (this.#underWay.size >= maxAtOnce + maxWaiting) {
      return Promise.reject(
        new EgressRefusal('egress_busy', `Cannot resolve "${name}": too many names are being resolved`),
      )
    }
    const lookup = this.#inTurn(name)
      .catch((error: unknown) => {
        throw unresolved(name, error)
      })
      .finally(() => this.#underWay.delete(name))
    this.#underWay.set(name, lookup)
    return lookup
  }

  async #inTurn(name: string): Promise<readonly string[]> {
    // Nobody waits for a look-up any more whose turn comes after the deadline of the first who asked.
    const late = AbortSignal.timeout(this.#options.timeoutMs)
    using places = new DisposableStack()
    places.use(await this.#places.enter(late))
    places.use(await this.#options.turn?.(late))
    return await this.#options.lookup(name)
  }
}

const proxyError = 'upstream_dns_failure'

function unresolved(name: string, cause?: unknown): EgressRefusal {
  const message = `Cannot resolve "${name}": no such name, or no answer`
  return new EgressRefusal('egress_failed', message, { cause, proxyError })
}

function lateLookup(name: string): EgressRefusal {
  return new EgressRefusal('egress_timeout', `Cannot resolve "${name}": no answer in time`, { proxyError })
}
