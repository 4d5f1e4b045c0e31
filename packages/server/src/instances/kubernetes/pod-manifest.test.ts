import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keySecret, podManifest, type PodPlace } from './pod-manifest.ts'

const MiB = 1024 * 1024
const identity = { id: 'abc', installation: 'installed', server: 'server-1' }
const place: PodPlace = {
  image: 'registry.example/berth:1',
  pullPolicy: 'IfNotPresent',
  pullSecrets: ['registry'],
  serviceAccount: 'berth-instance',
  runtimeClass: 'gvisor',
  gpuResource: 'nvidia.com/gpu',
  gpuRuntimeClass: 'nvidia',
  nodeSelector: { browsers: 'yes' },
  tolerations: [{ key: 'browsers', operator: 'Exists' }],
  priorityClass: 'browsers',
  seccomp: 'localhost/berth-instance.json',
  appArmor: 'unconfined',
  cpuPercent: 25,
  memoryPercent: 50,
}
const limits = { memoryBytes: 2048 * MiB, processes: 1024, cpus: 2, homeBytes: 1024 * MiB }
const make = (changes: Partial<PodPlace> = {}) =>
  podManifest({ identity, place: { ...place, ...changes }, limits, agent: { leaseSeconds: 20 } })

test('no container of a Pod has a right, and none has the key but the link', () => {
  const { spec } = make()
  assert.equal(spec!.automountServiceAccountToken, false)
  assert.equal(spec!.enableServiceLinks, false)
  assert.equal(spec!.hostNetwork ?? spec!.hostPID ?? spec!.hostIPC ?? spec!.shareProcessNamespace, undefined)
  const uids = spec!.containers.map(({ securityContext }) => {
    const { runAsUser, seccompProfile: _, ...confined } = securityContext!
    assert.deepEqual(confined, {
      runAsGroup: runAsUser,
      runAsNonRoot: true,
      privileged: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    return runAsUser
  })
  assert.equal(new Set(uids).size, 2)
  assert.deepEqual(
    spec!.containers.map(({ name, volumeMounts }) => [name, volumeMounts!.map((mount) => mount.name)]),
    [
      ['link', ['berth', 'key']],
      ['instance', ['berth']],
    ],
  )
  assert.deepEqual(
    spec!.volumes!.map((volume) => Object.keys(volume)[1]),
    ['emptyDir', 'secret'],
    'nothing of the node',
  )
})

test('requests and limits come from the size of the session', () => {
  const instance = make().spec!.containers[1]!
  assert.deepEqual(instance.resources, {
    requests: { cpu: '500m', memory: '1024Mi' },
    limits: { cpu: '2', memory: '2048Mi' },
  })
})

test('settings decide where Pods run and under which profiles', () => {
  const { spec, metadata } = make()
  assert.equal(spec!.runtimeClassName, 'gvisor')
  assert.equal(spec!.priorityClassName, 'browsers')
  assert.equal(spec!.serviceAccountName, 'berth-instance')
  assert.deepEqual(spec!.nodeSelector, { browsers: 'yes' })
  assert.deepEqual(spec!.tolerations!.at(-1), { key: 'browsers', operator: 'Exists' })
  assert.deepEqual(spec!.containers[1]!.securityContext!.seccompProfile, {
    type: 'Localhost',
    localhostProfile: 'berth-instance.json',
  })
  assert.ok(Object.values(metadata!.annotations!).includes('unconfined'))
  const plain = make({
    runtimeClass: '',
    priorityClass: '',
    seccomp: 'Unconfined',
    appArmor: '',
    pullSecrets: [],
  })
  assert.equal('runtimeClassName' in plain.spec! || 'priorityClassName' in plain.spec!, false)
  assert.deepEqual(plain.spec!.containers[1]!.securityContext!.seccompProfile, { type: 'Unconfined' })
  assert.equal(plain.metadata!.annotations, undefined)
})

test('the key is in the Secret only, which belongs to the Pod', () => {
  const key = Buffer.alloc(32, 9)
  const secret = keySecret(identity, key, 'uid-of-pod')
  assert.equal(Buffer.from(secret.data!['key']!, 'base64').compare(key), 0)
  assert.deepEqual(secret.metadata!.ownerReferences, [
    { apiVersion: 'v1', kind: 'Pod', name: 'berth-abc', uid: 'uid-of-pod' },
  ])
  assert.equal(JSON.stringify(make()).includes(secret.data!['key']!), false)
})

const withGpu = (changes: Partial<PodPlace> = {}) =>
  podManifest({
    identity,
    place: { ...place, ...changes },
    limits,
    agent: { leaseSeconds: 20 },
    gpu: true,
  }).spec!

test('a Pod with a GPU asks for the resource, and for the runtime class of such Pods', () => {
  const [link, instance] = withGpu().containers
  assert.equal(withGpu().runtimeClassName, 'nvidia')
  assert.equal(instance!.resources!.limits!['nvidia.com/gpu'], '1')
  assert.equal('nvidia.com/gpu' in link!.resources!.limits!, false)
  const valueOf = (name: string) => instance!.env!.find((each) => each.name === name)?.value
  assert.equal(valueOf('NVIDIA_DRIVER_CAPABILITIES'), 'graphics,utility')
  assert.equal(JSON.parse(valueOf('BERTH_POD_START')!).gpu, true)
  assert.equal(withGpu({ gpuRuntimeClass: '' }).runtimeClassName, 'gvisor')
  const other = withGpu({ gpuResource: 'gpu.intel.com/i915' }).containers[1]!.resources!.limits!
  assert.equal(other['gpu.intel.com/i915'], '1')
  const plain = JSON.stringify(make())
  assert.equal(/gpu|NVIDIA/i.test(plain), false)
})
