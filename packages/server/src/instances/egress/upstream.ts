import type { Duplex } from 'node:stream'
import { dial } from './dial.ts'
import type { EgressPolicy } from './policy.ts'
import { Resolver, type Lookup } from './resolve.ts'
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
}

export interface RequestConnection {
  readonly stream: Duplex
  /** Set when the connection ends at an HTTP proxy, which needs the whole URL. */
  readonly proxy?: { readonly authorization: string | undefined }
}

export interface DirectUpstreamOptions {
  readonly policy: EgressPolicy
  readonly lookup?: Lookup
  readonly lookupMs?: number
  readonly connectMs?: number
  readonly nextAddressAfterMs?: number
  readonly maxLookups?: number
}

/** Connects directly from this host. */
export class DirectUpstream implements Upstream {
  readonly #resolver: Resolver
  readonly #connectMs: number
  readonly #nextAddressAfterMs: number

  constructor(options: DirectUpstreamOptions) {
    const { policy, lookup, lookupMs = 10_000, connectMs = 30_000 } = options
    const { nextAddressAfterMs = 250, maxLookups = 64 } = options
    this.#resolver = new Resolver({ policy, ...(lookup && { lookup }), timeoutMs: lookupMs, maxLookups })
    this.#connectMs = connectMs
    this.#nextAddressAfterMs = nextAddressAfterMs
  }

  async connect(target: Target, signal: AbortSignal): Promise<Duplex> {
    const addresses = await this.#resolver.resolve(target, signal)
    return dial({
      ...target,
      addresses,
      nextAfterMs: this.#nextAddressAfterMs,
      timeoutMs: this.#connectMs,
      signal,
    })
  }

  async connectForRequest(target: Target, signal: AbortSignal): Promise<RequestConnection> {
    return { stream: await this.connect(target, signal) }
  }
}
