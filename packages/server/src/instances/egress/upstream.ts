import { isIPv4 } from 'node:net'
import type { Duplex } from 'node:stream'
import { dial } from './dial.ts'
import { SessionNames } from './dns/session-names.ts'
import { SystemNames } from './dns/system-names.ts'
import { Lookups, type Lookup } from './lookups.ts'
import type { EgressPolicy } from './policy.ts'
import { Resolver } from './resolve.ts'
import type { Target } from './target.ts'

/**
 * How connections leave. The proxy has checked the target, but only as written: an upstream that resolves
 * names must check the addresses.
 */
export interface Upstream {
  /** Rejects with EgressRefusal or with the signal's reason. The stream may be half-closed. */
  connect(target: Target, signal: AbortSignal): Promise<Duplex>
  /** The same for one plain HTTP request. */
  connectForRequest(target: Target, signal: AbortSignal): Promise<RequestConnection>
  /** Whether requests to this target go to an HTTP proxy, one by one. By default they do not. */
  takesRequests?(target: Target): boolean
  /**
   * The addresses of a name, if a connection to one of them is as good as one to the name; otherwise none. Rejects with
   * EgressRefusal when there is no such name. Without it, others resolve names.
   */
  addressesOf?(name: string, signal: AbortSignal): Promise<readonly string[]>
}

export interface RequestConnection {
  readonly stream: Duplex
  /** Set when the connection ends at an HTTP proxy, which needs the whole URL. */
  readonly proxy?: { readonly authorization: string | undefined; readonly isOperators: boolean }
}

export interface DirectUpstreamOptions {
  readonly policy: EgressPolicy
  /** Where names are looked up: by default as this machine's files say. */
  readonly names?: SystemNames
  /** Used instead of `names`. */
  readonly lookup?: Lookup
  readonly lookupMs?: number
  readonly connectMs?: number
  readonly nextAddressAfterMs?: number
  readonly maxLookups?: number
  readonly maxLookupsWaiting?: number
  /** See Lookups. */
  readonly lookupTurn?: (signal: AbortSignal) => Promise<Disposable>
}

/** Connects directly from this host. Each session has its own, and so its own look-ups. */
export class DirectUpstream implements Upstream, Disposable {
  readonly #options: DirectUpstreamOptions
  readonly #resolver: Resolver
  readonly #lookups: Lookups
  readonly #names: SessionNames | undefined

  constructor(options: DirectUpstreamOptions, shared?: Lookups) {
    const { policy, lookup, names = new SystemNames(), lookupMs = 10_000 } = options
    const { maxLookups = 64, maxLookupsWaiting = 256 } = options
    this.#options = options
    this.#names = shared || lookup ? undefined : new SessionNames(names)
    this.#lookups =
      shared ??
      new Lookups({
        // SAFETY: without a look-up of their own, options have names.
        lookup: lookup ?? this.#names!.lookup,
        timeoutMs: lookupMs,
        maxAtOnce: maxLookups,
        maxWaiting: maxLookupsWaiting,
        turn: options.lookupTurn,
      })
    this.#resolver = new Resolver({ policy, lookups: this.#lookups })
  }

  /** The same under another policy; they share their look-ups. */
  under(policy: EgressPolicy): DirectUpstream {
    return new DirectUpstream({ ...this.#options, policy }, this.#lookups)
  }

  /** The same without what the operator opened. */
  publicOnly(): DirectUpstream {
    return this.under(this.#options.policy.publicOnly())
  }

  /** Ends the look-ups under way; connections stay. */
  close(): void {
    this.#names?.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  async connect(target: Target, signal: AbortSignal): Promise<Duplex> {
    const { nextAddressAfterMs = 250, connectMs = 30_000 } = this.#options
    const addresses = await this.#resolver.resolve(target, signal)
    return dial({ ...target, addresses, nextAfterMs: nextAddressAfterMs, timeoutMs: connectMs, signal })
  }

  /** The addresses that a connection may use. Rejects like `connect`, but connects to nothing. */
  async resolve(target: Target, signal: AbortSignal): Promise<readonly string[]> {
    return this.#resolver.resolve(target, signal)
  }

  async connectForRequest(target: Target, signal: AbortSignal): Promise<RequestConnection> {
    return { stream: await this.connect(target, signal) }
  }

  async addressesOf(name: string, signal: AbortSignal): Promise<readonly string[]> {
    const { policy } = this.#options
    if (policy.fixedAddresses(name)) return []
    const addresses = await this.#lookups.addressesOf(name, signal)
    // Inside, names have IPv4 addresses only. Where this machine has only IPv6, we must choose the address.
    if (policy.isIpv6Only || !policy.isPublic(name, addresses)) return []
    return addresses.filter((address) => isIPv4(address))
  }
}
