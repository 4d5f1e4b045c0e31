import { lstat, rm } from 'node:fs/promises'
import type { Logger } from 'pino'
import { EgressListener, type EgressLimits } from './listener.ts'
import type { EgressPolicy } from './policy.ts'
import { DIRECT, type EgressRoute } from './route.ts'
import { DirectUpstream, type DirectUpstreamOptions } from './upstream.ts'

export interface EgressProxyOptions {
  readonly policy: EgressPolicy
  readonly log: Logger
  readonly limits?: Partial<EgressLimits>
  /** How connections are made straight from this host. */
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

/** The only way out of instances: one listener for each, with the policy of the whole server. */
export class EgressProxy {
  readonly #options: EgressProxyOptions
  readonly #limits: EgressLimits

  constructor(options: EgressProxyOptions) {
    this.#options = options
    this.#limits = { ...usualLimits, ...options.limits }
  }

  /** A socket that a crashed server left there is replaced. The directory must be the host's own. */
  async listen(socketPath: string, route: EgressRoute = DIRECT): Promise<EgressListener> {
    const { policy, log } = this.#options
    await removeStaleSocket(socketPath)
    // An upstream of its own, so that one instance cannot use up the look-ups of another.
    const directFor = (own: EgressPolicy) => new DirectUpstream({ ...this.#options.direct, policy: own })
    const listener = new EgressListener({ policy, directFor, route, limits: this.#limits, log })
    await listener.listen(socketPath)
    return listener
  }
}

/** Anything but a socket is left alone; listening then fails and says so. */
async function removeStaleSocket(path: string): Promise<void> {
  const info = await lstat(path).catch(() => undefined)
  if (info?.isSocket()) await rm(path, { force: true })
}
