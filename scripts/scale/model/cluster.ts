// The cluster in the simulation: places for Pods, the scheduler, nodes that start a few Pods at once, and the collector of
// what Pods leave.
import type { Clock, Process, Wait } from './clock.ts'
import type { ClusterLimits } from './inputs.ts'
import type { Random } from './random.ts'
import { Rate, Station } from './station.ts'

/** BERTH_KUBERNETES_FULL_SECONDS: how long a create waits for room. */
const FULL_SECONDS = 10

export interface SimNode {
  readonly starts: Station
  free: number
  isLost: boolean
}

export class SimCluster {
  readonly nodes: readonly SimNode[]
  readonly scheduler: Rate
  readonly collector: Rate
  /** Pods that were made, for rates. */
  made = 0
  ended = 0
  #free: number
  readonly #waiting = new Set<() => void>()
  readonly #clock: Clock
  readonly #limits: ClusterLimits
  readonly #random: Random

  constructor(
    clock: Clock,
    {
      limits,
      random,
      nodes,
      roomPerNode,
    }: { limits: ClusterLimits; random: Random; nodes: number; roomPerNode: number },
  ) {
    this.#clock = clock
    this.#limits = limits
    this.#random = random
    this.nodes = Array.from({ length: nodes }, () => ({
      starts: new Station(clock, limits.startsAtOncePerNode),
      free: roomPerNode,
      isLost: false,
    }))
    this.#free = nodes * roomPerNode
    this.scheduler = new Rate(clock, { perSecond: limits.schedulerPerSecond, burst: limits.schedulerBurst })
    this.collector = new Rate(clock, {
      perSecond: limits.collectedPerSecond,
      burst: limits.collectedPerSecond,
    })
  }

  get room(): number {
    return this.#free
  }

  /** Puts a Pod on a node at once, for what runs when the simulation begins. */
  place(): SimNode | undefined {
    const node = this.#emptiest()
    if (!node) return undefined
    node.free--
    this.#free--
    return node
  }

  /** `at.node` is the node that it runs on; without one, the cluster was full for too long. */
  *start(at: { node?: SimNode }): Process {
    const { callSeconds, startSeconds, startSpread } = this.#limits
    // The Pod, then its Secret.
    yield this.#clock.pause(2 * callSeconds)
    this.made++
    if (this.#free === 0) yield this.#untilRoom()
    const node = this.place()
    if (!node) return
    at.node = node
    yield this.scheduler.pass()
    yield node.starts.enter()
    yield this.#clock.pause(this.#random.logNormal(startSeconds, startSpread))
    node.starts.leave()
  }

  /** The room is free after a while, and the Secret goes when the collector comes to it. */
  end(node: SimNode): void {
    this.ended++
    this.collector.pass()(() => {})
    this.#clock.after(this.#limits.endSeconds, () => this.#giveBack(node))
  }

  lose(node: SimNode): void {
    node.isLost = true
    this.#free -= node.free
  }

  #giveBack(node: SimNode): void {
    node.free++
    if (node.isLost) return
    this.#free++
    const [next] = this.#waiting
    next?.()
  }

  #untilRoom(): Wait {
    return (resume) => {
      const go = () => {
        if (this.#waiting.delete(go)) resume()
      }
      this.#waiting.add(go)
      this.#clock.after(FULL_SECONDS, go)
    }
  }

  /** Of a few at random: as good as the best, and quicker to find. */
  #emptiest(): SimNode | undefined {
    let best: SimNode | undefined
    for (let tries = 0; tries < 8; tries++) {
      const node = this.nodes[this.#random.below(this.nodes.length)]!
      if (!node.isLost && node.free > 0 && (!best || node.free > best.free)) best = node
    }
    return best ?? this.nodes.find((node) => !node.isLost && node.free > 0)
  }
}
