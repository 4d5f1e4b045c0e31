// One Berth server in the simulation: a processor, connections to PostgreSQL, and warm instances of its own.
import type { Clock } from './clock.ts'
import type { SimNode } from './cluster.ts'
import type { Plan } from './inputs.ts'
import { Station } from './station.ts'

/** As in stock.ts of the server. */
const REFILL_AFTER_SECONDS = 0.5

export interface SimSession {
  server: SimServer
  readonly node: SimNode
  isOver: boolean
}

export interface ServerOptions {
  readonly plan: Plan
  /** Share of its processor that goes to leases, watches and timers. */
  readonly background: (server: SimServer) => number
  /** Starts one instance; calls back when it is ready, or when it never will be. */
  readonly make: (server: SimServer, done: (node: SimNode | undefined) => void) => void
}

export class SimServer {
  /** Node runs one thread. */
  readonly processor: Station
  readonly connections: Station
  readonly starts: Station
  readonly refills: Station
  readonly sessions = new Set<SimSession>()
  readonly warm: SimNode[] = []
  isGone = false
  #making = 0
  #isDue = false
  readonly #clock: Clock
  readonly #options: ServerOptions

  constructor(clock: Clock, options: ServerOptions) {
    const { plan, background } = options
    this.#clock = clock
    this.#options = options
    this.processor = new Station(clock, 1, () => background(this))
    this.connections = new Station(clock, plan.databasePool)
    this.starts = new Station(clock, plan.startsAtOnce)
    this.refills = new Station(clock, plan.refillsAtOnce)
  }

  get deficit(): number {
    return this.#options.plan.warm - this.warm.length
  }

  take(): SimNode | undefined {
    const node = this.warm.shift()
    this.refill()
    return node
  }

  refill(): void {
    if (this.#isDue || this.deficit === 0) return
    this.#isDue = true
    this.#clock.after(REFILL_AFTER_SECONDS, () => {
      this.#isDue = false
      this.#fill()
    })
  }

  #fill(): void {
    while (!this.isGone && this.#making < this.#options.plan.refillsAtOnce && this.#making < this.deficit) {
      this.#making++
      this.refills.enter()(() => {})
      this.#options.make(this, (node) => {
        this.#making--
        this.refills.leave()
        if (node && !node.isLost && !this.isGone) this.warm.push(node)
        this.#fill()
      })
    }
  }
}
