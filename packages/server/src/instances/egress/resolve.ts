// Resolves a target to the addresses that it may use. Every address is checked here, and the connection
// goes to a checked address. The name is never resolved twice, so an answer that changes in between
// (DNS rebinding) has no effect.
import { isIP } from 'node:net'
import type { Lookups } from './lookups.ts'
import type { EgressPolicy } from './policy.ts'
import { deniedBecause } from './refusal.ts'
import type { Target } from './target.ts'

export interface ResolverOptions {
  readonly policy: EgressPolicy
  readonly lookups: Lookups
}

export class Resolver {
  readonly #policy: EgressPolicy
  readonly #lookups: Lookups

  constructor({ policy, lookups }: ResolverOptions) {
    this.#policy = policy
    this.#lookups = lookups
  }

  /** Returns at least one address; throws EgressRefusal when none is allowed. */
  async resolve(target: Target, signal: AbortSignal): Promise<readonly string[]> {
    const { host } = target
    const early = this.#policy.judgeTarget(target)
    if (!early.allowed) throw deniedBecause(target, early.reason)
    if (isIP(host) !== 0) return [host]
    const fixed = this.#policy.fixedAddresses(host)
    const addresses = fixed ?? (await this.#lookups.addressesOf(host, signal))
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
}
