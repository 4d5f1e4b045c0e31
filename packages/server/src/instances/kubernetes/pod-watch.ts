// What the cluster says about our Pods: a list, then a watch from there on, and again when the watch ends or fails.
import type { V1Pod } from '@kubernetes/client-node'
import { pause } from '@berth/kit/pause'
import type { Log } from '../driver/log.ts'
import type { Cluster } from './cluster.ts'

const AGAIN_MS = 500
const MAX_AGAIN_MS = 10_000

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
        const { pods, version } = await cluster.listPods(labelSelector)
        this.#replace(pods)
        this.#first.resolve()
        againMs = AGAIN_MS
        await this.#watchFrom(version)
      } catch (error) {
        this.#first.reject(error)
        if (signal.aborted) return
        log.warn({ err: error }, 'cannot follow the Pods of instances; trying again')
        await pause(againMs, signal)
        againMs = Math.min(2 * againMs, MAX_AGAIN_MS)
      }
    }
  }

  async #watchFrom(version: string): Promise<void> {
    const { cluster, labelSelector } = this.#options
    const { signal } = this.#closing
    await cluster.watchPods(
      { labelSelector, version, signal },
      {
        onPod: (kind, pod) => {
          const name = pod.metadata?.name ?? ''
          if (kind === 'DELETED') this.#pods.delete(name)
          else this.#pods.set(name, pod)
          if (!signal.aborted) this.#options.onPod(pod, kind === 'DELETED')
        },
      },
    )
  }

  #replace(pods: readonly V1Pod[]): void {
    const before = new Map(this.#pods)
    this.#pods.clear()
    for (const pod of pods) this.#pods.set(pod.metadata?.name ?? '', pod)
    for (const pod of pods) this.#options.onPod(pod, false)
    for (const [name, pod] of before) if (!this.#pods.has(name)) this.#options.onPod(pod, true)
  }
}
