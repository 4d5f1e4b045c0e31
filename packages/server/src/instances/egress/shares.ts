// What the instances of one project have together, of everything that leaves this server: open connections, look-ups at
// once, and its part of the bandwidth. An instance in stock belongs to no project yet; it has a share of its own.
import { FairTurns } from '@berth/kit/fair-turns'
import { KeyedLimit } from '@berth/kit/keyed-limit'
import { FairBandwidth, type Meter } from './fair-bandwidth.ts'

/** Many more than pages of many sessions ask for; those that never answer take 10 s each. */
const MAX_LOOKUPS_PER_PROJECT = 512

export interface EgressSharesOptions {
  readonly connectionsPerProject: number
  /** In each direction; 0 for no bound. */
  readonly bytesPerSecond: number
}

export class EgressShares {
  readonly connections: KeyedLimit
  readonly lookups: FairTurns
  readonly bandwidth: { readonly sent: FairBandwidth; readonly received: FairBandwidth } | undefined
  #count = 0

  constructor({ connectionsPerProject, bytesPerSecond }: EgressSharesOptions) {
    this.connections = new KeyedLimit(connectionsPerProject)
    this.lookups = new FairTurns({
      // Only the share of each project is bounded: what is bounded for all, one could use up.
      atOnce: Number.POSITIVE_INFINITY,
      atOncePerKey: MAX_LOOKUPS_PER_PROJECT,
      // Each instance bounds its own.
      maxWaitingPerKey: Number.POSITIVE_INFINITY,
    })
    if (bytesPerSecond === 0) return
    const newBandwidth = () => new FairBandwidth({ bytesPerSecond })
    this.bandwidth = { sent: newBandwidth(), received: newBandwidth() }
  }

  /** For one instance, until its project is known. */
  newShare(): EgressShare {
    return new EgressShare(this, `instance ${this.#count++}`)
  }
}

/** The share that one instance takes part in. */
export class EgressShare {
  readonly #shares: EgressShares
  #key: string
  /** Undefined without a bound. */
  readonly sent: Meter | undefined
  readonly received: Meter | undefined

  constructor(shares: EgressShares, key: string) {
    this.#shares = shares
    this.#key = key
    const { bandwidth } = shares
    if (!bandwidth) return
    this.sent = (bytes, goOn) => bandwidth.sent.take(this.#key, bytes, goOn)
    this.received = (bytes, goOn) => bandwidth.received.take(this.#key, bytes, goOn)
  }

  get maxConnections(): number {
    return this.#shares.connections.max
  }

  /** What is open already stays in the share that it was opened in. */
  setProject(projectId: string): void {
    this.#key = projectId
  }

  connection(): Disposable | undefined {
    return this.#shares.connections.enter(this.#key)
  }

  lookup(signal: AbortSignal): Promise<Disposable> {
    return this.#shares.lookups.enter(this.#key, signal)
  }
}
