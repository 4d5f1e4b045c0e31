// What a Pod's status means for its instance.
import type { V1Pod } from '@kubernetes/client-node'
import type { InstanceEnd } from '../driver/driver.ts'
import type { Frozen } from './node-freezer.ts'
import { labels } from './pod-manifest.ts'

const LAPSED = 3

export const instanceIdOf = (pod: V1Pod): string => pod.metadata?.labels?.[labels.instance] ?? ''
export const serverOf = (pod: V1Pod): string => pod.metadata?.labels?.[labels.server] ?? ''

/**
 * What this file reads of a Pod, and no more: a server keeps all Pods of all servers. A list has times, and a watch has
 * text in their place.
 */
export function asSeen({ metadata = {}, status }: V1Pod): V1Pod {
  const { name, labels: own, creationTimestamp, deletionTimestamp } = metadata
  return {
    metadata: {
      ...(name !== undefined && { name }),
      ...(own && { labels: own }),
      ...(creationTimestamp && { creationTimestamp: new Date(creationTimestamp) }),
      ...(deletionTimestamp && { deletionTimestamp: new Date(deletionTimestamp) }),
    },
    ...(status && { status }),
  }
}

/** Where its link listens, once it does. */
export function addressOf({ status, metadata }: V1Pod): string | undefined {
  if (metadata?.deletionTimestamp !== undefined) return undefined
  const link = status?.containerStatuses?.find(({ name }) => name === 'link')
  return link?.state?.running && status?.podIP ? status.podIP : undefined
}

/** What the helper of its node needs to freeze it. */
export function frozenOf({ status }: V1Pod): Frozen | undefined {
  const { containerID: id } = status?.containerStatuses?.find(({ name }) => name === 'instance') ?? {}
  const container = id?.split('://')[1]
  return container && status?.hostIP ? { node: status.hostIP, container } : undefined
}

/** Undefined while the instance may run. A Pod that is being deleted is over: its processes end within moments. */
export function endOf({ status, metadata }: V1Pod): InstanceEnd | undefined {
  const instance = status?.containerStatuses?.find(({ name }) => name === 'instance')?.state?.terminated
  if (instance?.reason === 'OOMKilled') return 'out-of-memory'
  if (instance?.exitCode === LAPSED) return 'lease-lapsed'
  if (isLost(status?.reason)) return 'lost'
  if (metadata?.deletionTimestamp !== undefined) return 'lost'
  if (instance || status?.phase === 'Failed' || status?.phase === 'Succeeded') return 'ended-by-itself'
  return undefined
}

/** Evicted, or its node is gone: nothing that the session did. */
const isLost = (reason: string | undefined) =>
  ['Evicted', 'NodeLost', 'Shutdown', 'NodeShutdown', 'Preempting'].includes(reason ?? '')

/** Why no node takes it. Undefined when one does, or when the cluster has not looked yet. */
export function whyUnschedulable({ status }: V1Pod): string | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const isRefused = scheduled?.status === 'False' && scheduled.reason === 'Unschedulable'
  return isRefused ? (scheduled.message ?? 'no node has room') : undefined
}

/** Why a container cannot start, if it never will by waiting. */
export function whyStuck({ status }: V1Pod): string | undefined {
  const hopeless = [
    'ErrImageNeverPull',
    'InvalidImageName',
    'ImagePullBackOff',
    'ErrImagePull',
    'CreateContainerConfigError',
    'CreateContainerError',
    'RunContainerError',
  ]
  const waiting = status?.containerStatuses
    ?.map(({ state }) => state?.waiting)
    .find(({ reason } = {}) => hopeless.includes(reason ?? ''))
  return waiting && `${waiting.reason}: ${waiting.message ?? ''}`
}

/** Nobody needs it any more, whoever made it: it ended, or it did not start in a long time. */
export function isLitter(pod: V1Pod, now: number): boolean {
  const madeAt = pod.metadata?.creationTimestamp?.getTime() ?? now
  const ageMs = now - madeAt
  if (pod.metadata?.deletionTimestamp !== undefined) return false
  if (endOf(pod) !== undefined) return ageMs > LITTER_MS
  return pod.status?.phase === 'Pending' && ageMs > NEVER_STARTED_MS
}
const LITTER_MS = 60_000
const NEVER_STARTED_MS = 600_000
