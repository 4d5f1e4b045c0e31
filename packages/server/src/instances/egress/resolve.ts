// Resolves a target to the addresses that it may use. Every address is checked here, and the connection
// goes to a checked address. The name is never resolved twice, so an answer that changes in between
// (DNS rebinding) has no effect.
import { promises as dns } from 'node:dns'
import { isIP } from 'node:net'
import type { EgressPolicy } from './policy.ts'
import { deniedBecause, EgressRefusal } from './refusal.ts'
import type { Target } from './target.ts'

/** All addresses of a name, in the order to try them. */
export type Lookup = (name: string) => Promise<readonly string[]>

export interface ResolverOptions {
  readonly policy: EgressPolicy
  readonly lookup?: Lookup
  readonly timeoutMs: number
  /** A system look-up cannot be cancelled, so those that timed out count too. */
  readonly maxLookups: number
}

export class Resolver {
  readonly #policy: EgressPolicy
  readonly #lookup: Lookup
  readonly #timeoutMs: number
  readonly #maxLookups: number
  readonly #underWay = new Map<string, Promise<readonly string[]>>()

  constructor({ policy, lookup = systemLookup, timeoutMs, maxLookups }: ResolverOptions) {
    this.#policy = policy
    this.#lookup = lookup
    this.#timeoutMs = timeoutMs
    this.#maxLookups = maxLookups
  }

  /** Returns at least one address; throws EgressRefusal when none is allowed. */
  async resolve(target: Target, signal: AbortSignal): Promise<readonly string[]> {
    const { host } = target
    const early = this.#policy.judgeTarget(target)
    if (!early.allowed) throw deniedBecause(target, early.reason)
    if (isIP(host) !== 0) return [host]
    const fixed = this.#policy.fixedAddresses(host)
    const addresses = fixed ?? (await this.#addressesOf(host, signal))
    const allowed: string[] = []
    let reason: string | undefined
    for (const address of addresses) {
      const verdict = this.#policy.judgeResolved(target, address)
      if (verdict.allowed) allowed.push(address)
      else reason ??= verdict.reason
    }
    // One closed address among open ones is the mark of DNS rebinding: then none is used.
    // Our own names and the operator's are trusted; only their closed addresses are skipped.
    const isTrusted = fixed !== undefined || this.#policy.isListedName(target)
    if (reason !== undefined && (!isTrusted || allowed.length === 0)) throw deniedBecause(target, reason)
    return allowed
  }

  async #addressesOf(name: string, signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted()
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    const given = AbortSignal.any([signal, timeout])
    const addresses = await new Promise<readonly string[]>((resolve, reject) => {
      given.addEventListener('abort', () => {
        if (signal.aborted) reject(signal.reason as Error)
        else reject(new EgressRefusal('egress_timeout', `Cannot resolve "${name}": no answer in time`))
      })
      this.#sharedLookup(name).then(resolve, reject)
    })
    if (addresses.length === 0) throw unresolved(name)
    return addresses
  }

  /** Concurrent requests for one name share one look-up. */
  #sharedLookup(name: string): Promise<readonly string[]> {
    const shared = this.#underWay.get(name)
    if (shared) return shared
    if (this.#underWay.size >= this.#maxLookups) {
      return Promise.reject(
        new EgressRefusal('egress_busy', `Cannot resolve "${name}": too many names are being resolved`),
      )
    }
    const lookup = this.#lookup(name)
      .catch((error: unknown) => {
        throw unresolved(name, error)
      })
      .finally(() => this.#underWay.delete(name))
    this.#underWay.set(name, lookup)
    return lookup
  }
}

async function systemLookup(name: string): Promise<string[]> {
  const answers = await dns.lookup(name, { all: true, order: 'verbatim' })
  return answers.map(({ address }) => address)
}

function unresolved(name: string, cause?: unknown): EgressRefusal {
  return new EgressRefusal('egress_failed', `Cannot resolve "${name}": no such name, or no answer`, { cause })
}
