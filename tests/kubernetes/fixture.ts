// Drivers in this process, with the rights of a server.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { EgressPolicy } from '@berth/server/instances/egress/policy'
import { EgressProxy } from '@berth/server/instances/egress/proxy'
import { Cluster } from '@berth/server/instances/kubernetes/cluster'
import { KubernetesDriver } from '@berth/server/instances/kubernetes/kubernetes-driver'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { tempDir } from '../fixtures/server.ts'
import { cluster, kubectl, place } from './cluster.ts'

export const log = pino({ level: process.env['BERTH_TEST_LOG'] ?? 'silent' })

/** One installation for each test file. */
export const secret = createHash('sha256').update(`${process.pid} ${Date.now()}`).digest()

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
    subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace: cluster.namespace }],
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
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: cluster.namespace } }],
    'current-context': 'x',
  })
}

export const kubeconfigText = await serverKubeconfig()

/** A server that runs outside of the cluster has its sessions there. */
export function clusterSettings(owner: Owner): Record<string, string> {
  const kubeconfig = join(tempDir(owner), 'kubeconfig')
  writeFileSync(kubeconfig, kubeconfigText)
  return {
    BERTH_DRIVER: 'kubernetes',
    BERTH_KUBERNETES_KUBECONFIG: kubeconfig,
    BERTH_KUBERNETES_NAMESPACE: cluster.namespace,
    BERTH_KUBERNETES_IMAGE: cluster.image,
    BERTH_KUBERNETES_PULL_POLICY: place.pullPolicy,
    BERTH_KUBERNETES_SECCOMP: place.seccomp,
    BERTH_KUBERNETES_CPU_PERCENT: '5',
    BERTH_KUBERNETES_MEMORY_PERCENT: '50',
    BERTH_SESSION_MEMORY_MB: '1024',
    BERTH_SESSION_DISK_MB: '128',
  }
}

export const newCluster = () => Cluster.open({ kubeconfig: kubeconfigText, namespace: cluster.namespace })

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
