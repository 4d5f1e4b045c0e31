// The Pod of one instance, and the Secret with its key. The README beside this file says why each line is there.
import type { V1Pod, V1Secret, V1Toleration } from '@kubernetes/client-node'
import type { AgentStart } from '@berth/contracts/link'
import type { InstanceLimits } from '../driver/driver.ts'
import type { PodStart } from '../pod/launcher.ts'
import { POD_LINK_PORT } from '../pod/protocol.ts'

const MB = 1024 * 1024
const NAME = 'app.kubernetes.io/name'
const MANAGED_BY = 'app.kubernetes.io/managed-by'
const LINK_ID = 10_001
const INSTANCE_ID = 10_002
const SHARED_GROUP = 10_003
/** The node is cut off: a Pod that nobody reaches should not wait for minutes. */
const UNREACHABLE_SECONDS = 10
const SHARED = '/run/berth'
const KEY = '/run/berth-key'

export const labels = {
  installation: 'berth.dev/installation',
  instance: 'berth.dev/instance',
  server: 'berth.dev/server',
} as const

export const INSTANCE_APP = 'berth-instance'

/** Which of the driver's libraries NVIDIA's runtime puts into the container. Others do not read it. */
const DRIVER_FILES = [{ name: 'NVIDIA_DRIVER_CAPABILITIES', value: 'graphics,utility' }]

export interface PodPlace {
  readonly image: string
  readonly pullPolicy: string
  readonly pullSecrets: readonly string[]
  readonly serviceAccount: string
  readonly runtimeClass: string
  /** Such as nvidia.com/gpu; empty where sessions get no GPU. */
  readonly gpuResource: string
  /** Of Pods with a GPU; empty: as the others. */
  readonly gpuRuntimeClass: string
  readonly nodeSelector: Readonly<Record<string, string>>
  readonly tolerations: readonly V1Toleration[]
  readonly priorityClass: string
  readonly seccomp: string
  readonly appArmor: string
  readonly cpuPercent: number
  readonly memoryPercent: number
}

export interface PodIdentity {
  readonly id: string
  readonly installation: string
  readonly server: string
}

export const podName = (id: string) => `berth-${id}`

export function podSelector(installation: string): string {
  return `${NAME}=${INSTANCE_APP},${labels.installation}=${installation}`
}

export function podLabels({ id, installation, server }: PodIdentity): Record<string, string> {
  return {
    [NAME]: INSTANCE_APP,
    [MANAGED_BY]: 'berth',
    [labels.installation]: installation,
    [labels.instance]: id,
    [labels.server]: server,
  }
}

export function podManifest({
  identity,
  place,
  limits,
  agent,
  gpu = false,
}: {
  identity: PodIdentity
  place: PodPlace
  limits: InstanceLimits
  agent: AgentStart
  gpu?: boolean
}): V1Pod {
  const { id } = identity
  const { memoryBytes, cpus, homeBytes, processes } = limits
  const start: PodStart = { agent, homeBytes, ...(gpu && { gpu }) }
  const runtimeClass = (gpu && place.gpuRuntimeClass) || place.runtimeClass
  const env = [
    { name: 'BERTH_POD_INSTANCE', value: id },
    { name: 'BERTH_POD_START', value: JSON.stringify(start) },
    { name: 'BERTH_POD_PROCESSES', value: String(processes) },
  ]
  const container = {
    image: place.image,
    imagePullPolicy: place.pullPolicy,
    env,
    terminationMessagePath: '/dev/null',
  }
  const shared = { name: 'berth', mountPath: SHARED }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(id),
      labels: podLabels(identity),
      ...(place.appArmor !== '' && {
        annotations: { 'container.apparmor.security.beta.kubernetes.io/instance': place.appArmor },
      }),
    },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(place.serviceAccount !== '' && { serviceAccountName: place.serviceAccount }),
      ...(runtimeClass !== '' && { runtimeClassName: runtimeClass }),
      ...(place.priorityClass !== '' && { priorityClassName: place.priorityClass }),
      ...(place.pullSecrets.length > 0 && { imagePullSecrets: place.pullSecrets.map((name) => ({ name })) }),
      nodeSelector: { ...place.nodeSelector },
      tolerations: [...tolerations, ...place.tolerations],
      // Names are looked up by servers.
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['127.0.0.1'] },
      securityContext: { runAsNonRoot: true, fsGroup: SHARED_GROUP },
      containers: [
        {
          ...container,
          name: 'link',
          command: ['berth-pod', 'link'],
          ports: [{ name: 'link', containerPort: POD_LINK_PORT, protocol: 'TCP' }],
          securityContext: { ...confined(LINK_ID), seccompProfile: { type: 'RuntimeDefault' } },
          resources: {
            requests: { cpu: '10m', memory: '64Mi' },
            limits: { cpu: '1', memory: '192Mi' },
          },
          volumeMounts: [shared, { name: 'key', mountPath: KEY, readOnly: true }],
        },
        {
          ...container,
          name: 'instance',
          command: ['berth-pod', 'instance'],
          ...(gpu && { env: [...env, ...DRIVER_FILES] }),
          securityContext: { ...confined(INSTANCE_ID), seccompProfile: seccompOf(place.seccomp) },
          resources: {
            requests: {
              cpu: `${Math.ceil(10 * cpus * place.cpuPercent)}m`,
              memory: `${Math.ceil(((memoryBytes / MB) * place.memoryPercent) / 100)}Mi`,
            },
            limits: {
              cpu: String(cpus),
              memory: `${Math.floor(memoryBytes / MB)}Mi`,
              ...(gpu && { [place.gpuResource]: '1' }),
            },
          },
          // The link ends when nobody renews its lease, and the instance with it, whatever the instance does.
          livenessProbe: {
            tcpSocket: { port: POD_LINK_PORT },
            initialDelaySeconds: 10,
            periodSeconds: 10,
            failureThreshold: 2,
          },
          volumeMounts: [shared],
        },
      ],
      volumes: [
        { name: 'berth', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } },
        { name: 'key', secret: { secretName: podName(id), defaultMode: 0o440 } },
      ],
    },
  }
}

/** Deleted by the cluster with its Pod. */
export function keySecret(identity: PodIdentity, key: Buffer, podUid: string): V1Secret {
  const name = podName(identity.id)
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      name,
      labels: podLabels(identity),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid: podUid }],
    },
    data: { key: key.toString('base64') },
  }
}

const tolerations: readonly V1Toleration[] = [
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/not-ready',
].map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: UNREACHABLE_SECONDS }))

function confined(id: number) {
  return {
    runAsUser: id,
    runAsGroup: id,
    runAsNonRoot: true,
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  }
}

function seccompOf(name: string) {
  const localhostProfile = /^localhost\/(.+)$/.exec(name)?.[1]
  return localhostProfile === undefined ? { type: name } : { type: 'Localhost', localhostProfile }
}
