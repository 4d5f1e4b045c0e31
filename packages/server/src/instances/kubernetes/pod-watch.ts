// What the cluster says about our Pods: a list, then a watch from there on. The cluster ends each watch after a while, and
// the next begins where it ended; when one fails, the list is read again.
import type { V1Pod } from '@kubernetes/client-node'
import { pause } from '@berth/kit/pause'
import type { Log } from '../driver/log.ts'
import type { Cluster } from './cluster.ts'
import { asSeen } from './pod-state.ts'

const AGAIN_MS = 500
const MAX_AGAIN_MS = 10_000
/** Should a watch ever miss something. With thousands of Pods a list costs seconds of processor time. */
const LIST_AGAIN_MS = 3_600_000

export interface PodWatchOptions {
  readonly cluster: Pick<Cluster, 'listPods' | 'watchPods'>
  readonly labelSelector: string
  /** Also for each Pod after a list. `isDeleted`: it is no longer there. */
  readonly onPod: (pod: V1Pod, isDeleted: boolean) => void
  readonly log: Log
}

export class PodWatch {
  readonly #options: PodWatchOptions
  readonly #closing = new AbortController()
  readonly #pods = new Map<string, V1Pod>()
  readonly #first = Promise.withResolvers<void>()
  readonly #running: Promise<void>

  constructor(options: PodWatchOptions) {
    this.#options = options
    this.#first.promise.catch(() => {})
    this.#running = this.#run()
  }

  /** Resolves when all Pods are known; rejects when the first list fails. */
  get ready(): Promise<void> {
    return this.#first.promise
  }

  get pods(): readonly V1Pod[] {
    return [...this.#pods.values()]
  }

  find(name: string): V1Pod | undefined {
    return this.#pods.get(name)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { cluster, labelSelector, log } = this.#options
    const { signal } = this.#closing
    let againMs = AGAIN_MS
    while (!signal.aborted) {
      try {
        const pods: V1Pod[] = []
        const { version } = await cluster.listPods(
          labelSelector,
          (some) => void pods.push(...some.map(asSeen)),
        )
        this.#replace(pods)
        this.#first.resolve()
        againMs = AGAIN_MS
        await this.#followFrom(version)
      } catch (error) {
        this.#first.reject(error)
        if (signal.aborted) return
        log.warn({ err: error }, 'cannot follow the Pods of instances; trying again')
        await pause(againMs, signal)
        againMs = Math.min(2 * againMs, MAX_AGAIN_MS)
      }
    }
  }

  async #followFrom(version: string): Promise<void> {
    const { cluster, labelSelector } = this.#options
    const { signal } = this.#closing
    const until = performance.now() + LIST_AGAIN_MS
    let last = version
    while (!signal.aborted && performance.now() < until) {
      const startedAt = performance.now()
      await cluster.watchPods(
        { labelSelector, version: last, signal },
        {
          onPod: (kind, pod) => this.#see(asSeen(pod), kind === 'DELETED'),
          onVersion: (seen) => (last = seen),
        },
      )
      // A cluster that ends each at once is not asked all the time.
      await pause(Math.max(0, startedAt + AGAIN_MS - performance.now()), signal)
    }
  }

  #see(pod: V1Pod, isDeleted: boolean): void {
    const name = pod.metadata?.name ?? ''
    if (isDeleted) this.#pods.delete(name)
    else this.#pods.set(name, pod)
    if (!this.#closing.signal.aborted) this.#options.onPod(pod, isDeleted)
  }

  #replace(pods: readonly V1Pod[]): void {
    const before = new Map(this.#pods)
    this.#pods.clear()
    for (const pod of pods) this.#pods.set(pod.metadata?.name ?? '', pod)
    for (const pod of pods) this.#options.onPod(pod, false)
    for (const [name, pod] of before) if (!this.#pods.has(name)) this.#options.onPod(pod, true)
  }
}
