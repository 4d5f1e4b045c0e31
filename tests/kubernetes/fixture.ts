// A real cluster, named by KUBECONFIG, and an image, named by BERTH_TEST_IMAGE, which its nodes have or can pull.
import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { EgressPolicy } from '@berth/server/instances/egress/policy'
import { EgressProxy } from '@berth/server/instances/egress/proxy'
import { Cluster } from '@berth/server/instances/kubernetes/cluster'
import { KubernetesDriver } from '@berth/server/instances/kubernetes/kubernetes-driver'
import type { PodPlace } from '@berth/server/instances/kubernetes/pod-manifest'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'

const {
  KUBECONFIG: kubeconfig = '',
  BERTH_TEST_IMAGE: image = '',
  BERTH_TEST_NAMESPACE: namespace = 'default',
} = process.env
export const cluster = { kubeconfig, image, namespace }
export const log = pino({ level: process.env['BERTH_TEST_LOG'] ?? 'silent' })

if (!kubeconfig || !image)
  throw new Error('Set KUBECONFIG and BERTH_TEST_IMAGE: these tests need a cluster and an image')

export const place: PodPlace = {
  image,
  pullPolicy: process.env['BERTH_TEST_PULL_POLICY'] ?? 'IfNotPresent',
  pullSecrets: [],
  serviceAccount: '',
  runtimeClass: '',
  nodeSelector: {},
  tolerations: [],
  priorityClass: '',
  seccomp: process.env['BERTH_KUBERNETES_SECCOMP'] ?? 'localhost/berth-instance.json',
  appArmor: 'unconfined',
  cpuPercent: 5,
  memoryPercent: 50,
}

/** One installation for each test file. */
export const secret = createHash('sha256').update(`${process.pid} ${Date.now()}`).digest()

const execute = promisify(execFile)

export async function kubectl(...args: string[]): Promise<string> {
  const { stdout } = await execute(
    'kubectl',
    ['--kubeconfig', kubeconfig, '--namespace', namespace, ...args],
    {
      maxBuffer: 64 * 1024 * 1024,
    },
  )
  return stdout
}

const ACCOUNT = 'berth-test-server'

/** What the README of the driver asks for, and nothing else. */
const rights = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: ACCOUNT },
    rules: [
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'list', 'watch'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: ACCOUNT },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: ACCOUNT },
    subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace }],
  },
]

/** The kubeconfig of a server, with the rights of a server. */
async function serverKubeconfig(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'berth-rights-'))
  try {
    const file = join(directory, 'rights.json')
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: rights }))
    await kubectl('apply', '--filename', file)
  } finally {
    rmSync(directory, { recursive: true })
  }
  const view = JSON.parse(
    await kubectl('config', 'view', '--raw', '--flatten', '--minify', '--output', 'json'),
  ) as {
    clusters: [{ cluster: object }]
  }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: view.clusters[0].cluster }],
    users: [{ name: 'u', user: { token: (await kubectl('create', 'token', ACCOUNT)).trim() } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace } }],
    'current-context': 'x',
  })
}

export const kubeconfigText = await serverKubeconfig()
export const newCluster = () => Cluster.open({ kubeconfig: kubeconfigText, namespace })

export async function openDriver(
  owner: Owner,
  changes: Partial<Parameters<typeof KubernetesDriver.open>[0]> = {},
): Promise<KubernetesDriver> {
  const policy = new EgressPolicy({ allow: [] })
  const driver = await KubernetesDriver.open({
    cluster: await newCluster(),
    place,
    secret,
    serverId: 'server-1',
    leaseSeconds: 60,
    startMs: 60_000,
    fullMs: 5_000,
    egress: new EgressProxy({ policy, log }),
    log,
    ...changes,
  })
  cleanUpAfter(owner, () => driver.close())
  return driver
}

/** Names of Pods and Secrets of these instances, but for Pods that are being deleted. */
export async function leftOf(ids: readonly string[]): Promise<string[]> {
  const { items } = JSON.parse(
    await kubectl(
      'get',
      'pods,secrets',
      '--selector',
      'app.kubernetes.io/name=berth-instance',
      '--output',
      'json',
    ),
  ) as { items: { kind: string; metadata: { name: string; deletionTimestamp?: string } }[] }
  return items
    .filter(
      ({ metadata }) =>
        metadata.deletionTimestamp === undefined && ids.includes(metadata.name.slice('berth-'.length)),
    )
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
}
