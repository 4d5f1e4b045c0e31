// The names that one session looks up. c-ares asks the DNS servers from the event loop: `dns.lookup` would block one of
// the few threads of the process for each name that never answers, and so every other session. Each session has a
// channel and a cache of its own, so that no session learns from the cache what another one looked up.
import { Resolver } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { AddressCache } from './address-cache.ts'
import type { SystemNames } from './system-names.ts'

const FIRST_TRY_MS = 2_000
const TRIES = 2
const MAX_TRY_MS = 4_000
const MAX_CACHED_NAMES = 256
/** The name does not exist here; it may exist with the next domain of the search list. */
const NOT_HERE = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'EBADNAME'])

interface Answer {
  readonly addresses: readonly string[]
  readonly seconds: number
}

export class SessionNames {
  readonly #system: SystemNames
  readonly #cache = new AddressCache({ maxNames: MAX_CACHED_NAMES })
  /** Made at the first look-up: most instances in stock never have one. */
  #channel: { readonly resolver: Resolver; readonly revision: string } | undefined
  #isClosed = false

  constructor(system: SystemNames) {
    this.#system = system
  }

  /** All addresses of a name, in the order to try them; empty if there are none. */
  readonly lookup = async (name: string): Promise<readonly string[]> => {
    const known = this.#system.inHostsFile(name) ?? this.#cache.get(name)
    if (known) return known
    let failure: unknown
    for (const candidate of this.#system.candidatesFor(name)) {
      try {
        const { addresses, seconds } = await this.#ask(candidate)
        this.#cache.put(name, addresses, seconds)
        return addresses
      } catch (error) {
        failure ??= error
        if (!NOT_HERE.has(codeOf(error))) throw error
      }
    }
    throw failure as Error
  }

  /** Ends the look-ups under way. */
  close(): void {
    this.#isClosed = true
    this.#channel?.resolver.cancel()
  }

  /** Waits for both kinds: the policy must judge all addresses of a name. */
  async #ask(name: string): Promise<Answer> {
    const resolver = this.#resolver()
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ])
    const records = hasIpv6() ? alternate(valueOf(v6), valueOf(v4)) : alternate(valueOf(v4), valueOf(v6))
    if (records.length > 0) {
      return {
        addresses: records.map(({ address }) => address),
        seconds: Math.min(...records.map(({ ttl }) => ttl)),
      }
    }
    // A failure says more than a missing record: it may pass.
    const failures = [v4, v6].flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []))
    throw failures.find((error) => !NOT_HERE.has(codeOf(error))) ?? failures[0] ?? new Error('no records')
  }

  #resolver(): Resolver {
    if (this.#isClosed) throw new Error('The session has ended')
    const { revision, servers } = this.#system
    if (this.#channel?.revision !== revision) {
      const resolver = new Resolver({ timeout: FIRST_TRY_MS, tries: TRIES, maxTimeout: MAX_TRY_MS })
      if (servers.length > 0) resolver.setServers(servers)
      this.#channel = { resolver, revision }
    }
    return this.#channel.resolver
  }
}

function valueOf<T>(settled: PromiseSettledResult<T[]>): T[] {
  return settled.status === 'fulfilled' ? settled.value : []
}

/** RFC 8305: if one kind of address does not work here, the next try uses the other one. */
function alternate<T>(first: readonly T[], second: readonly T[]): T[] {
  const merged: T[] = []
  for (let index = 0; index < Math.max(first.length, second.length); index++) {
    merged.push(...first.slice(index, index + 1), ...second.slice(index, index + 1))
  }
  return merged
}

const REMEMBER_MS = 5_000
let ipv6: { readonly exists: boolean; readonly readAt: number } | undefined

/** Without a public address, IPv6 leads nowhere, and trying it first would delay every connection. */
function hasIpv6(): boolean {
  if (ipv6 && performance.now() - ipv6.readAt < REMEMBER_MS) return ipv6.exists
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const exists = addresses.some(
    ({ address, family }) => family === 'IPv6' && ipaddr.parse(address).range() === 'unicast',
  )
  ipv6 = { exists, readAt: performance.now() }
  return exists
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}
