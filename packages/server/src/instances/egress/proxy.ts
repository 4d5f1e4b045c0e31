import { lstat, rm } from 'node:fs/promises'
import type { Logger } from 'pino'
import { EgressListener, type EgressLimits, type ListenPlace } from './listener.ts'
import type { EgressPolicy } from './policy.ts'
import { DIRECT, type EgressRoute } from './route.ts'
import { EgressShares } from './shares.ts'
import { DirectUpstream, type DirectUpstreamOptions } from './upstream.ts'

export interface EgressProxyOptions {
  readonly policy: EgressPolicy
  readonly log: Logger
  readonly limits?: Partial<EgressLimits>
  /** Of projects; by default without bounds. */
  readonly shares?: EgressShares
  /** How to connect directly from this host. */
  readonly direct?: Omit<DirectUpstreamOptions, 'policy'>
}

const usualLimits: EgressLimits = {
  connections: 512,
  headerBytes: 64 * 1024,
  headerMs: 10_000,
  keepAliveMs: 30_000,
  answerMs: 300_000,
  halfOpenMs: 300_000,
}

const UNBOUNDED = { connectionsPerProject: Number.POSITIVE_INFINITY, bytesPerSecond: 0 }

/** The only egress of instances: one listener for each, with the server's policy. */
export class EgressProxy {
  readonly #options: EgressProxyOptions
  readonly #limits: EgressLimits
  readonly #shares: EgressShares

  constructor(options: EgressProxyOptions) {
    this.#options = options
    this.#limits = { ...usualLimits, ...options.limits }
    this.#shares = options.shares ?? new EgressShares(UNBOUNDED)
  }

  /** Replaces the socket of a crashed server. The directory must belong to the host. */
  async listen(socketPath: string, route: EgressRoute = DIRECT): Promise<EgressListener> {
    await removeStaleSocket(socketPath)
    return this.#start(route, { path: socketPath })
  }

  /** On a socket that listens already, which another process handed over. */
  accept(handle: { readonly fd: number }, route: EgressRoute): Promise<EgressListener> {
    return this.#start(route, { handle })
  }

  /** Listens nowhere: its connections are given to it. */
  open(route: EgressRoute): EgressListener {
    return this.#newListener(route)
  }

  async #start(route: EgressRoute, place: ListenPlace): Promise<EgressListener> {
    const listener = this.#newListener(route)
    await listener.listen(place)
    return listener
  }

  #newListener(route: EgressRoute): EgressListener {
    const { policy, log } = this.#options
    // Its own upstream, so that one instance cannot use up another's look-ups.
    const share = this.#shares.newShare()
    const lookupTurn = (signal: AbortSignal) => share.lookup(signal)
    const direct = new DirectUpstream({ ...this.#options.direct, policy, lookupTurn })
    return new EgressListener({ policy, direct, route, limits: this.#limits, share, log })
  }
}

/** Removes nothing but a socket; listening then fails with a clear error. */
async function removeStaleSocket(path: string): Promise<void> {
  const info = await lstat(path).catch(() => undefined)
  if (info?.isSocket()) await rm(path, { force: true })
}
