// The API of the cluster, as much of it as the driver needs. Loaded at first use: other servers do not need the client.
import type { CoreV1Api, KubeConfig, V1Pod, V1Secret } from '@kubernetes/client-node'

/** Namespace of the service account of a Pod. */
const OWN_NAMESPACE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace'
const CALL_MS = 15_000

export interface ClusterOptions {
  /** The text of one. Without it, the service account of this Pod. */
  readonly kubeconfig: string | undefined
  /** Empty: that of the service account or of the kubeconfig. */
  readonly namespace: string
}

/** An answer of the cluster's API other than success. */
export class ClusterRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string, cause: unknown) {
    super(message, { cause })
    this.status = status
  }
}

export interface WatchHandlers {
  readonly onPod: (kind: 'ADDED' | 'MODIFIED' | 'DELETED', pod: V1Pod) => void
}

export class Cluster {
  readonly namespace: string
  readonly #api: CoreV1Api
  readonly #config: KubeConfig
  readonly #Watch: typeof import('@kubernetes/client-node').Watch
  /** How many calls were made, by what they do. */
  readonly calls = { create_pod: 0, create_secret: 0, delete_pod: 0, list_pods: 0, watch_pods: 0 }

  private constructor(
    config: KubeConfig,
    namespace: string,
    client: typeof import('@kubernetes/client-node'),
  ) {
    this.#config = config
    this.namespace = namespace
    this.#api = config.makeApiClient(client.CoreV1Api)
    this.#Watch = client.Watch
  }

  static async open({ kubeconfig, namespace }: ClusterOptions): Promise<Cluster> {
    const client = await import('@kubernetes/client-node')
    const config = new client.KubeConfig()
    if (kubeconfig === undefined) config.loadFromCluster()
    else config.loadFromString(kubeconfig)
    return new Cluster(config, namespace || (await namespaceOf(config, kubeconfig === undefined)), client)
  }

  async createPod(body: V1Pod): Promise<V1Pod> {
    this.calls.create_pod++
    return called('create a Pod', this.#api.createNamespacedPod({ namespace: this.namespace, body }))
  }

  async createSecret(body: V1Secret): Promise<void> {
    this.calls.create_secret++
    await called('create a Secret', this.#api.createNamespacedSecret({ namespace: this.namespace, body }))
  }

  /** At once. A Pod that is not there is as good. */
  async deletePod(name: string): Promise<void> {
    this.calls.delete_pod++
    const { namespace } = this
    try {
      await called('delete a Pod', this.#api.deleteNamespacedPod({ name, namespace, gracePeriodSeconds: 0 }))
    } catch (error) {
      if (!(error instanceof ClusterRefusal) || error.status !== 404) throw error
    }
  }

  async listPods(labelSelector: string): Promise<{ pods: V1Pod[]; version: string }> {
    this.calls.list_pods++
    const { namespace } = this
    const { items, metadata } = await called(
      'list Pods',
      this.#api.listNamespacedPod({ namespace, labelSelector }),
    )
    return { pods: items, version: metadata?.resourceVersion ?? '' }
  }

  /** Resolves when the watch ends, as the cluster ends each after a while; rejects when it fails. */
  async watchPods(
    { labelSelector, version, signal }: { labelSelector: string; version: string; signal: AbortSignal },
    { onPod }: WatchHandlers,
  ): Promise<void> {
    this.calls.watch_pods++
    const query = { labelSelector, resourceVersion: version, timeoutSeconds: 300 }
    const ended = Promise.withResolvers<void>()
    const watch = new this.#Watch(this.#config)
    let failure: Error | undefined
    const controller = await watch.watch(
      `/api/v1/namespaces/${this.namespace}/pods`,
      query,
      (phase: string, object: V1Pod & { code?: number; message?: string }) => {
        if (phase === 'ADDED' || phase === 'MODIFIED' || phase === 'DELETED') onPod(phase, withDates(object))
        // Too old a version, for example: the list is read again.
        else if (phase === 'ERROR') failure = new Error(`The watch failed: ${object.message ?? phase}`)
      },
      (error: unknown) => {
        if (failure || error) ended.reject(failure ?? error)
        else ended.resolve()
      },
    )
    const stop = () => {
      controller.abort()
      ended.resolve()
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      await ended.promise
    } finally {
      signal.removeEventListener('abort', stop)
      controller.abort()
    }
  }
}

/** A list has times as dates, a watch as text. */
export function withDates(pod: V1Pod): V1Pod {
  for (const name of ['creationTimestamp', 'deletionTimestamp'] as const) {
    const time: Date | string | undefined = pod.metadata?.[name]
    if (pod.metadata && time !== undefined) pod.metadata[name] = new Date(time)
  }
  return pod
}

async function called<T>(what: string, call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`Cannot ${what}: no answer within ${CALL_MS / 1000} s`)),
      CALL_MS,
    )
  })
  try {
    return await Promise.race([call, late])
  } catch (error) {
    const { code, body, message } = error as { code?: unknown; body?: unknown; message?: string }
    if (typeof code !== 'number') throw error
    throw new ClusterRefusal(
      code,
      `Cannot ${what}: the cluster answers ${code}, ${reasonOf(body) ?? message}`,
      error,
    )
  } finally {
    clearTimeout(timer)
  }
}

function reasonOf(body: unknown): string | undefined {
  try {
    const status = (typeof body === 'string' ? JSON.parse(body) : body) as { message?: unknown }
    return typeof status.message === 'string' ? status.message : undefined
  } catch {
    return undefined
  }
}

async function namespaceOf(config: KubeConfig, isInCluster: boolean): Promise<string> {
  if (!isInCluster) return config.getContextObject(config.getCurrentContext())?.namespace ?? 'default'
  const { readFile } = await import('node:fs/promises')
  return (await readFile(OWN_NAMESPACE, 'utf8')).trim()
}
