// The chart, rendered by the real Helm: what it makes is typed right for an old and a new Kubernetes, gives servers and
// instances no more than they need, and refuses wrong values.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '@berth/server/config/config'
import { lint, render, toolModules } from '../fixtures/helm.ts'
import { parseObjects, type KubernetesObject } from '../fixtures/rendered-objects.ts'

const root = join(import.meta.dirname, '../..')
const least = { secret: 'berth-secrets', 'blobs.url': 's3://berth' }
const most = {
  ...least,
  publicUrl: 'https://berth.example',
  'image.digest': `sha256:${'a'.repeat(64)}`,
  'image.pullSecrets[0]': 'registry',
  'settings.BERTH_LOG_LEVEL': 'debug',
  'settings.BERTH_S3_REGION': 'eu-west-1',
  'settings.BERTH_INSTANCE_UID_BASE': '1879048192',
  'nodeSelector.pool': 'servers',
  'tolerations[0].operator': 'Exists',
  'podLabels.team': 'web',
  'ingress.enabled': 'true',
  'ingress.className': 'nginx',
  'ingress.tlsSecret': 'certificate',
  'instances.namespace': 'browsers',
  'instances.runtimeClass': 'gvisor',
  'instances.gpu.resource': 'nvidia.com/gpu',
  'instances.gpu.runtimeClass': 'nvidia',
  'instances.nodeSelector.pool': 'browsers',
  'instances.tolerations[0].key': 'browsers',
  'instances.tolerations[0].effect': 'NoSchedule',
  'networkPolicy.clients[0].podSelector.matchLabels.app': 'agents',
  'podDisruptionBudget.maxUnavailable': '50%',
  'freezer.enabled': 'true',
  'serviceMonitor.enabled': 'true',
  'serviceMonitor.keySecret.name': 'metrics-key',
}
const variants: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  least,
  most,
  'with a claim, and by load': {
    secret: 'berth-secrets',
    'blobs.existingClaim': 'blobs',
    'autoscaling.enabled': 'true',
  },
  'with keda, without the rest': {
    ...least,
    'keda.enabled': 'true',
    'networkPolicy.enabled': 'false',
    'podDisruptionBudget.enabled': 'false',
    'priorityClass.create': 'false',
    'instances.seccomp.profile': 'Unconfined',
    'serviceAccount.name': 'own',
    topologySpread: 'false',
  },
}
const versions = { '1.20.2': 'kubernetes-types-1-21', '1.30.0': 'kubernetes-types-1-30' }

/** Of other projects, so their types are not among those of Kubernetes: what the chart uses of them. */
const otherKinds: Readonly<Record<string, string>> = {
  'keda.sh/v1alpha1 ScaledObject': `{
    apiVersion: string; kind: string; metadata: M
    spec: {
      scaleTargetRef: { name: string }; minReplicaCount: number; maxReplicaCount: number; cooldownPeriod: number
      triggers: { type: 'prometheus'; metadata: { serverAddress: string; query: string; threshold: string } }[]
    } }`,
  'monitoring.coreos.com/v1 ServiceMonitor': `{
    apiVersion: string; kind: string; metadata: M
    spec: {
      selector: { matchLabels: Record<string, string> }
      endpoints: {
        port: string; path: string; interval: string
        authorization: { type: 'Bearer'; credentials: { name: string; key: string } }
      }[]
    } }`,
}

for (const [name, set] of Object.entries(variants)) {
  test(`helm lint finds nothing in the chart (${name})`, () => assert.equal(lint(set), ''))
}

for (const [kubeVersion, types] of Object.entries(versions)) {
  test(`everything that is rendered for Kubernetes ${kubeVersion} has fields and types that it knows`, (t) => {
    const objects = Object.values(variants).flatMap((set) => parseObjects(render({ set, kubeVersion })))
    assert.equal(typeErrors(t, objects, types), '')
  })
}

test('the type check finds a field that does not exist and a type that is wrong', (t) => {
  const deployment = only(objectsOf(least), 'Deployment')
  const errorsWith = (field: object) => {
    const wrong = { ...deployment, spec: { ...deployment['spec'], ...field } }
    return typeErrors(t, [wrong], versions['1.30.0'])
  }
  assert.match(errorsWith({ replica: 2 }), /replica"?' does not exist/)
  assert.match(errorsWith({ minReadySeconds: 'soon' }), /Type 'string' is not assignable to type 'number'/)
})

test('the servers have no privilege, and can write only where they must', () => {
  const { spec } = only(objectsOf(most), 'Deployment')['spec']['template']
  assert.equal(spec.enableServiceLinks, false)
  assert.equal(spec.securityContext.runAsNonRoot, true)
  assert.deepEqual(spec.securityContext.seccompProfile, { type: 'RuntimeDefault' })
  const [server] = spec.containers
  assert.deepEqual(server.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  assert.deepEqual(
    server.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath),
    ['/data', '/tmp'],
  )
})

test('a rolling update loses no server before its successor is ready, and waits until it has stopped', () => {
  const { spec } = only(
    objectsOf({ ...least, drainSeconds: '7', 'settings.BERTH_SHUTDOWN_GRACE_SECONDS': '60' }),
    'Deployment',
  )
  assert.deepEqual(spec.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 })
  const { terminationGracePeriodSeconds, containers } = spec.template.spec
  assert.equal(terminationGracePeriodSeconds, 7 + 1 + 60 + 10)
  assert.deepEqual(containers[0].lifecycle.preStop.exec.command, ['sleep', '7'])
  assert.equal(containers[0].readinessProbe.httpGet.path, '/ready')
  assert.equal(containers[0].livenessProbe.httpGet.path, '/health')
})

test('servers may make and remove Pods and write Secrets, in the namespace of instances, and nothing else', () => {
  const objects = objectsOf(most)
  const role = only(objects, 'Role')
  assert.equal(role.metadata.namespace, 'browsers')
  assert.deepEqual(role['rules'], [
    { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'list', 'watch'] },
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  ])
  assert.deepEqual(
    objects.filter(({ kind }) => kind.startsWith('Cluster')),
    [],
  )
  const binding = only(objects, 'RoleBinding')
  assert.deepEqual(binding['subjects'], [{ kind: 'ServiceAccount', name: 'berth', namespace: 'fleet' }])
  const ofInstances = objects.find(
    ({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === 'berth-instance',
  )
  assert.equal(ofInstances?.metadata.namespace, 'browsers')
  assert.equal(ofInstances?.['automountServiceAccountToken'], false)
})

test('nothing leaves an instance, and only servers reach it', () => {
  const policies = objectsOf(least).filter(({ kind }) => kind === 'NetworkPolicy')
  const { spec } = policies.find(({ metadata }) => metadata.name === 'berth-instance')!
  assert.deepEqual(spec.podSelector.matchLabels, { 'app.kubernetes.io/name': 'berth-instance' })
  assert.deepEqual(spec.policyTypes, ['Ingress', 'Egress'])
  assert.deepEqual(spec.egress, [])
  const servers = only(objectsOf(least), 'Deployment')['spec'].selector
  assert.deepEqual(spec.ingress, [
    { from: [{ podSelector: servers }], ports: [{ protocol: 'TCP', port: 7443 }] },
  ])
})

const isFreezer = ({ kind, metadata }: KubernetesObject) =>
  kind === 'DaemonSet' && metadata.name === 'berth-freezer'

test('the helper that freezes has no capability, the control groups and its own key', () => {
  assert.equal(objectsOf(least).filter(isFreezer).length, 0)
  const { spec } = objectsOf(most).find(isFreezer)!['spec'].template
  assert.deepEqual(spec.nodeSelector, { pool: 'browsers' })
  assert.deepEqual(spec.containers[0].securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  assert.deepEqual(spec.volumes, [
    {
      name: 'key',
      secret: { secretName: 'berth-secrets', items: [{ key: 'BERTH_KUBERNETES_FREEZER_KEY', path: 'key' }] },
    },
    { name: 'cgroup', hostPath: { path: '/sys/fs/cgroup', type: 'Directory' } },
  ])
})

test('secrets are not in the chart, and come from a Secret of the operator', () => {
  const text = render({ set: most })
  assert.doesNotMatch(text, /kind: Secret\b/)
  assert.doesNotMatch(text, /BERTH_MASTER_KEY:|DATABASE_URL:/)
  const [server] = only(objectsOf(most), 'Deployment')['spec'].template.spec.containers
  assert.deepEqual(server.envFrom, [
    { configMapRef: { name: 'berth' } },
    { secretRef: { name: 'berth-secrets' } },
  ])
})

test('settings reach the servers as they were written, and a change of one replaces the Pods', () => {
  const objects = objectsOf(most)
  const { data } = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'berth')!
  assert.equal(data['BERTH_INSTANCE_UID_BASE'], '1879048192')
  assert.equal(data['BERTH_KUBERNETES_NODE_SELECTOR'], 'pool=browsers')
  assert.deepEqual(JSON.parse(data['BERTH_KUBERNETES_TOLERATIONS']), [
    { key: 'browsers', effect: 'NoSchedule' },
  ])
  assert.equal(data['BERTH_KUBERNETES_IMAGE'], `berth@${most['image.digest']}`)
  const stamp = (set: Readonly<Record<string, string>>) =>
    only(objectsOf(set), 'Deployment')['spec'].template.metadata.annotations['berth.dev/settings']
  assert.notEqual(stamp(most), stamp({ ...most, 'settings.BERTH_LOG_LEVEL': 'warn' }))
})

test('the servers can start with what the chart gives them: each setting exists, and its value has the right form', () => {
  // As the values name its keys.
  const secret = {
    DATABASE_URL: 'postgres://user:password@host/database',
    BERTH_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    BERTH_API_KEY: 'a'.repeat(24),
  }
  for (const [name, set] of Object.entries(variants)) {
    const objects = objectsOf(set)
    const { data } = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'berth')!
    const [server] = only(objects, 'Deployment')['spec'].template.spec.containers
    const env = (server.env as { name: string; value?: string }[]).flatMap(({ name: variable, value }) =>
      value === undefined ? [] : [[variable, value.replace('$(POD_IP)', '10.1.2.3')]],
    )
    const config = loadConfig({ BERTH_HOST: '0.0.0.0', ...data, ...Object.fromEntries(env), ...secret })
    assert.equal(config.BERTH_DRIVER, 'kubernetes', name)
    assert.equal(config.BERTH_PORT, server.ports[0].containerPort, name)
    assert.equal(config.BERTH_INTERNAL_URL?.host, '10.1.2.3:8080', name)
  }
})

test('a setting that the chart makes itself is refused among the settings', () => {
  const { data } = objectsOf(most).find(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'berth',
  )!
  const given = Object.keys(most).flatMap((name) => /^settings\.(.*)$/.exec(name)?.[1] ?? [])
  const made = Object.keys(data).filter((name) => !given.includes(name) && name !== 'BERTH_ALLOWED_HOSTS')
  assert.ok(made.length > 10, String(made.length))
  for (const name of made) {
    assert.throws(() => render({ set: { ...least, [`settings.${name}`]: 'x' } }), /settings: /, name)
  }
})

const refused: readonly (readonly [why: string, set: Readonly<Record<string, string>>, says: RegExp])[] = [
  ['an unknown name', { ...least, replica: '3' }, /Additional property replica is not allowed/],
  ['an unknown name further down', { ...least, 'image.name': 'x' }, /image: Additional property name/],
  ['a wrong type', { ...least, replicas: 'many' }, /replicas: Invalid type/],
  ['a setting that is none', { ...least, 'settings.PATH': '/bin' }, /settings: .*"PATH"/],
  ['a wrong digest', { ...least, 'image.digest': 'latest' }, /image\.digest: Does not match/],
  ['no Secret', { 'blobs.url': 's3://berth' }, /set `secret` to the name of a Secret/],
  ['no place for blobs', { secret: 's' }, /set exactly one of `blobs\.url`/],
  ['two places for blobs', { ...least, 'blobs.ephemeral': 'true' }, /set exactly one of `blobs\.url`/],
  [
    'two who change the number of servers',
    { ...least, 'keda.enabled': 'true', 'autoscaling.enabled': 'true' },
    /exclude each other/,
  ],
  [
    'metrics without a key',
    { ...least, 'serviceMonitor.enabled': 'true' },
    /set `serviceMonitor\.keySecret\.name`/,
  ],
  [
    'a seccomp profile of no kind',
    { ...least, 'instances.seccomp.profile': 'none' },
    /instances\.seccomp\.profile: /,
  ],
]
for (const [why, set, says] of refused) {
  test(`values are refused with the reason: ${why}`, () => assert.throws(() => render({ set }), says))
}

const objectsOf = (set: Readonly<Record<string, string>>) => parseObjects(render({ set }))

function only(objects: readonly KubernetesObject[], wanted: string): KubernetesObject {
  const found = objects.filter(({ kind }) => kind === wanted)
  assert.equal(found.length, 1, wanted)
  return found[0]!
}

/** What the compiler says about the objects as values of their types. */
function typeErrors(t: TestContext, objects: readonly KubernetesObject[], types: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'berth-test-chart-'))
  t.after(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'node_modules'))
  symlinkSync(join(toolModules, types), join(directory, 'node_modules/kubernetes-types'))
  const constants = objects.map((object, index) => {
    const type =
      otherKinds[`${object.apiVersion} ${object.kind}`] ?? `import('${moduleOf(object)}').${object.kind}`
    return `export const object${index}: ${type} = ${JSON.stringify(object, null, 1)}`
  })
  const imports = "type M = import('kubernetes-types/meta/v1').ObjectMeta"
  writeFileSync(join(directory, 'rendered.ts'), [imports, ...constants, ''].join('\n'))
  const { stdout } = spawnSync(
    join(root, 'node_modules/.bin/tsc'),
    ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '', 'rendered.ts'],
    { cwd: directory, encoding: 'utf8' },
  )
  return stdout
}

/** `networking.k8s.io/v1` is in `networking/v1`, and `v1` in `core/v1`. */
function moduleOf({ apiVersion }: KubernetesObject): string {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion]
  return `kubernetes-types/${group!.split('.')[0]}/${version}`
}
