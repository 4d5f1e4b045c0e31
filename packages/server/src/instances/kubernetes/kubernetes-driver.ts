// Instances as Pods of a cluster. Any server reaches any of them, so what one server leaves another can take over.
import { readdirSync } from 'node:fs'
import type { V1Pod } from '@kubernetes/client-node'
import { createHmac } from 'node:crypto'
import { pause } from '@berth/kit/pause'
import {
  NoCapacity,
  type Capabilities,
  type Driver,
  type GpuReport,
  type Instance,
  type InstanceLimits,
  type InstanceOptions,
} from '../driver/driver.ts'
import type { Log } from '../driver/log.ts'
import type { EgressProxy } from '../egress/proxy.ts'
import { CLOSED, DIRECT, type EgressRoute } from '../egress/route.ts'
import { instanceKey } from '../pod/protocol.ts'
import { ClusterRefusal, type Cluster } from './cluster.ts'
import { KubernetesInstance } from './kubernetes-instance.ts'
import {
  keySecret,
  podManifest,
  podName,
  podSelector,
  type PodIdentity,
  type PodPlace,
} from './pod-manifest.ts'
import {
  addressOf,
  endOf,
  frozenOf,
  instanceIdOf,
  isLitter,
  serverOf,
  whyStuck,
  whyUnschedulable,
} from './pod-state.ts'
import type { NodeFreezer } from './node-freezer.ts'
import { PodFreezer } from './pod-freezer.ts'
import { PodWatch } from './pod-watch.ts'

const SWEEP_MS = 30_000
const REMOVE_WITHIN_MS = 30_000
const REMOVE_AGAIN_MS = 500

export interface KubernetesDriverOptions {
  readonly cluster: Cluster
  readonly place: PodPlace
  /** Shared by all servers of one database; the keys of instances come from it. */
  readonly secret: Buffer
  readonly serverId: string
  readonly leaseSeconds: number
  /** How long a Pod may take until its agent answers. */
  readonly startMs: number
  /** How long a Pod may wait for room. */
  readonly fullMs: number
  readonly egress: Pick<EgressProxy, 'open'>
  /** Undefined where nodes have no helper that freezes. */
  readonly freezer?: NodeFreezer | undefined
  readonly log: Log
}

/** Whether a node has one, the cluster knows when it places the Pod. */
function gpuOf({ gpuResource }: PodPlace): GpuReport {
  if (gpuResource !== '') {
    return { gpus: [{ device: gpuResource, name: gpuResource }], problems: [], isUnwanted: false }
  }
  const problem =
    'sessions run in Pods, and no resource is set of which they could ask for a GPU (BERTH_KUBERNETES_GPU_RESOURCE)'
  return { gpus: [], problems: [problem], isUnwanted: true }
}

interface Starting {
  readonly fail: (error: Error) => void
  readonly onFull: (() => void) | undefined
  full: NodeJS.Timeout | undefined
}

export class KubernetesDriver implements Driver {
  readonly capabilities: Capabilities
  readonly shortcomings: readonly string[]
  readonly #options: KubernetesDriverOptions
  readonly #installation: string
  readonly #watch: PodWatch
  readonly #instances = new Map<string, KubernetesInstance>()
  readonly #starting = new Map<string, Starting>()
  readonly #sweeping: NodeJS.Timeout
  #isClosed = false

  private constructor(options: KubernetesDriverOptions, shortcomings: readonly string[]) {
    this.#options = options
    this.shortcomings = shortcomings
    this.capabilities = {
      headful: true,
      gpu: gpuOf(options.place),
      freeze: options.freezer !== undefined,
      deepStandby: {
        place: undefined,
        problem: 'the memory of Pods is the business of their nodes',
        isUnwanted: true,
      },
      isElsewhere: true,
      locales: locales(),
    }
    // Not the secret itself, and the same for every server.
    this.#installation = createHmac('sha256', options.secret)
      .update('installation')
      .digest('hex')
      .slice(0, 16)
    const { cluster, log } = options
    this.#watch = new PodWatch({
      cluster,
      log,
      labelSelector: podSelector(this.#installation),
      onPod: (pod, isDeleted) => this.#onPod(pod, isDeleted),
    })
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_MS)
    this.#sweeping.unref()
  }

  static async open(options: KubernetesDriverOptions): Promise<KubernetesDriver> {
    const driver = new KubernetesDriver(options, [])
    try {
      await driver.#watch.ready
      return driver
    } catch (error) {
      await driver.close()
      throw new Error(
        `Cannot follow the Pods of namespace "${options.cluster.namespace}": ${(error as Error).message}`,
        {
          cause: error,
        },
      )
    }
  }

  async start(
    { id, limits, agent, gpu = false, onFull }: InstanceOptions,
    signal?: AbortSignal,
  ): Promise<Instance> {
    if (this.#isClosed) throw new Error(`Cannot start instance "${id}": the server is closing`)
    if (this.#instances.has(id)) throw new Error(`Cannot start instance "${id}": it already exists`)
    signal?.throwIfAborted()
    const { cluster, place, secret, serverId, startMs } = this.#options
    const identity: PodIdentity = { id, installation: this.#installation, server: serverId }
    // No session uses it yet, so the direct route reveals nothing.
    const instance = this.#own(id, DIRECT, limits)
    const failed = Promise.withResolvers<never>()
    failed.promise.catch(() => {})
    const starting: Starting = { fail: failed.reject, onFull, full: undefined }
    this.#starting.set(id, starting)
    const late = setTimeout(() => {
      const pod = this.#watch.find(podName(id))
      failed.reject(new Error(`its Pod did not run within ${startMs / 1000} s (${describe(pod)})`))
    }, startMs)
    const onAbort = () => failed.reject(signal!.reason as Error)
    signal?.addEventListener('abort', onAbort, { once: true })
    const creating = (async () => {
      const pod = await cluster.createPod(podManifest({ identity, place, limits, agent, gpu }))
      await cluster.createSecret(keySecret(identity, instanceKey(secret, id), pod.metadata?.uid ?? ''))
    })()
    try {
      await Promise.race([creating.then(() => instance.up), failed.promise])
      return instance
    } catch (error) {
      // A Pod that is being created could not be deleted yet.
      await creating.catch(() => {})
      await instance.destroy()
      signal?.throwIfAborted()
      if (error instanceof NoCapacity) throw error
      if (isOverQuota(error))
        throw new NoCapacity(`the cluster has no room: ${error.message}`, { cause: error })
      throw new Error(`Cannot start instance "${id}": ${(error as Error).message}`, { cause: error })
    } finally {
      clearTimeout(late)
      clearTimeout(starting.full)
      this.#starting.delete(id)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Those that this server made and that still run, for a server whose container started again. */
  async adopt(): Promise<Instance[]> {
    const own = this.#watch.pods.filter((pod) => serverOf(pod) === this.#options.serverId)
    const adopted = await Promise.all(own.map((pod) => this.find(instanceIdOf(pod))))
    return adopted.filter((instance) => instance !== undefined)
  }

  /** Takes over an instance that runs, whichever server had it. Undefined when there is none. */
  async find(id: string): Promise<Instance | undefined> {
    const known = this.#instances.get(id)
    if (known) return known
    const pod = this.#watch.find(podName(id))
    const host = pod && addressOf(pod)
    if (!pod || host === undefined || endOf(pod) !== undefined) {
      // What did not get as far as to run is of no use to anybody.
      if (pod) await this.#remove(id)
      return undefined
    }
    // Nothing may leave the instance until its route is known.
    const instance = this.#own(id, CLOSED, undefined)
    instance.reach({ host }, Date.now())
    await instance.thaw().catch((error: unknown) => {
      // If it is frozen, it does not answer, and ends.
      this.#options.log.warn({ err: error, instance: id }, 'cannot thaw an instance that was taken over')
    })
    return instance
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#sweeping)
    await Promise.all([...this.#instances.values()].map((instance) => instance.release()))
    await this.#watch.close()
  }

  #own(id: string, route: EgressRoute, limits: InstanceLimits | undefined): KubernetesInstance {
    const { egress, freezer, leaseSeconds, secret, log } = this.#options
    const place = () => {
      const pod = this.#watch.find(podName(id))
      return pod && frozenOf(pod)
    }
    const instance = new KubernetesInstance({
      id,
      key: instanceKey(secret, id),
      leaseSeconds,
      limits,
      egress: egress.open(route),
      remove: () => this.#remove(id),
      onGone: () => this.#instances.delete(id),
      freezer: freezer && new PodFreezer({ freezer, find: place, mayBeFrozen: limits === undefined }),
      log,
    })
    this.#instances.set(id, instance)
    return instance
  }

  #onPod(pod: V1Pod, isDeleted: boolean): void {
    const id = instanceIdOf(pod)
    const instance = this.#instances.get(id)
    if (!instance) return
    const end = endOf(pod) ?? (isDeleted ? 'lost' : undefined)
    const starting = this.#starting.get(id)
    if (end !== undefined) {
      starting?.fail(new Error(`its Pod has ended (${describe(pod)})`))
      return void instance.gone(end)
    }
    const host = addressOf(pod)
    if (host !== undefined) instance.reach({ host }, 0)
    if (!starting) return
    const stuck = whyStuck(pod)
    if (stuck !== undefined) return starting.fail(new Error(`its Pod cannot run (${stuck})`))
    const full = whyUnschedulable(pod)
    if (full === undefined) {
      clearTimeout(starting.full)
      starting.full = undefined
      return
    }
    starting.onFull?.()
    starting.full ??= setTimeout(
      () =>
        starting.fail(
          new NoCapacity(`the cluster has no room: ${whyNow(this.#watch.find(podName(id))) ?? full}`),
        ),
      this.#options.fullMs,
    )
  }

  /** Tries for a while. What then is left ends itself, and is swept. */
  async #remove(id: string): Promise<void> {
    const { cluster, log } = this.#options
    const deadline = performance.now() + REMOVE_WITHIN_MS
    for (;;) {
      try {
        return await cluster.deletePod(podName(id))
      } catch (error) {
        if (performance.now() > deadline) {
          log.warn({ err: error, instance: id }, 'cannot delete the Pod of an instance; it is swept later')
          return
        }
      }
      await pause(REMOVE_AGAIN_MS)
    }
  }

  /** Removes what servers that are gone left. Every server does it, because each may be the last. */
  async #sweep(): Promise<void> {
    const now = Date.now()
    const { cluster, log } = this.#options
    for (const pod of this.#watch.pods) {
      if (this.#isClosed) return
      if (this.#instances.has(instanceIdOf(pod)) || !isLitter(pod, now)) continue
      try {
        await cluster.deletePod(pod.metadata?.name ?? '')
      } catch (error) {
        log.debug({ err: error, pod: pod.metadata?.name }, 'cannot sweep a Pod yet')
      }
    }
  }
}

const whyNow = (pod: V1Pod | undefined) => pod && whyUnschedulable(pod)

/** A quota of the namespace is a full cluster, too. */
const isOverQuota = (error: unknown): error is ClusterRefusal =>
  error instanceof ClusterRefusal && error.status === 403 && /exceeded quota/.test(error.message)

function describe(pod: V1Pod | undefined): string {
  if (!pod) return 'the cluster does not have it'
  const { phase, reason, message, containerStatuses = [] } = pod.status ?? {}
  const containers = containerStatuses.map(({ name, state }) => {
    const { waiting, terminated } = state ?? {}
    if (waiting) return `${name} waits: ${waiting.reason ?? ''} ${waiting.message ?? ''}`.trim()
    if (terminated) return `${name} ended: ${terminated.reason ?? ''}, code ${terminated.exitCode}`
    return `${name} runs`
  })
  return [phase, reason, message, whyUnschedulable(pod), ...containers].filter(Boolean).join('; ')
}

/** Servers and instances have the same image. */
function locales(): Set<string> {
  try {
    const files = readdirSync('/usr/lib/chromium/locales')
    return new Set(files.flatMap((name) => /^([\w-]+)\.pak$/.exec(name)?.[1] ?? []))
  } catch {
    return new Set(['en-US'])
  }
}
