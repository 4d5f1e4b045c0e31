// The driver on a real cluster: calls to its API, claims, take-over, Pods that go away, a full cluster.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { newId } from '@berth/kit/ids'
import { AgentClient } from '@berth/server/instances/agent/client'
import { readState } from '@berth/server/instances/agent/state'
import { NoCapacity, type InstanceOptions } from '@berth/server/instances/driver/driver'
import { Instances } from '@berth/server/instances/stock/instances'
import { podName } from '@berth/server/instances/kubernetes/pod-manifest'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { eventually } from '../fixtures/host.ts'
import { shell } from '../instances/agent-shell.ts'
import { kubectl, place } from './cluster.ts'
import { leftOf, log, newCluster, openDriver } from './fixture.ts'

const MiB = 1024 * 1024
const usual = { memoryBytes: 768 * MiB, processes: 400, cpus: 1, homeBytes: 64 * MiB }
const WARM = 3
const soon = () => AbortSignal.timeout(20_000)

interface Creation {
  readonly arguments: readonly [{ readonly metadata?: { readonly name?: string } }]
}
const namesOf = ({ mock }: { readonly mock: { readonly calls: readonly Creation[] } }) =>
  mock.calls.map((call) => call.arguments[0].metadata?.name)

const options = (changes: Partial<InstanceOptions['limits']> = {}): InstanceOptions => ({
  id: newId(),
  limits: { ...usual, ...changes },
  agent: { leaseSeconds: 20 },
  isBackground: false,
})

test(
  'a session costs three calls to the API of the cluster, and a claim none',
  { timeout: 180_000 },
  async (t) => {
    const cluster = await newCluster()
    const createPod = t.mock.method(cluster, 'createPod')
    const createSecret = t.mock.method(cluster, 'createSecret')
    const driver = await openDriver(t, { cluster })
    const instances = new Instances({
      driver,
      limits: () => usual,
      stock: { empty: 0, headless: WARM, headful: 0, gpu: 0 },
      leaseSeconds: 20,
      maxWaitingStartsPerProject: 100,
      hostLoopback: false,
      log,
    })
    let isClosed = false
    const close = async () => {
      if (!isClosed) await instances.close({ keep: new Set() })
      isClosed = true
    }
    cleanUpAfter(t, close)
    instances.fill()
    await eventually('warm Pods', () => instances.readyCount('headless') === WARM, 120_000)
    const calls = () => cluster.calls.create_pod + cluster.calls.create_secret + cluster.calls.delete_pod
    assert.equal(calls(), 2 * WARM)
    const browser = { headless: true, width: 1280, height: 720, kiosk: false }
    const claims = Array.from({ length: 2 * WARM }, () => instances.claim('project', browser))
    const ids = new Set(claims.map(({ instanceId }) => instanceId))
    assert.equal(ids.size, 2 * WARM, 'no two claims have the same instance')
    const warm = claims.slice(0, WARM)
    const startedAt = performance.now()
    const opened = await Promise.all(warm.map((claim) => claim.open()))
    const tookMs = performance.now() - startedAt
    // By now, others may be made in their place.
    for (const { instanceId } of warm) {
      const isOfIt = (name: string | undefined) => name === podName(instanceId)
      assert.equal(namesOf(createPod).filter(isOfIt).length, 1, 'a claim makes no Pod')
      assert.equal(namesOf(createSecret).filter(isOfIt).length, 1, 'a claim makes no Secret')
    }
    assert.equal(cluster.calls.delete_pod, 0, 'a claim deletes nothing')
    assert.ok(tookMs < 2_000, `${tookMs} ms`)
    t.diagnostic(`${WARM} warm claims at once: ${tookMs.toFixed(0)} ms`)
    await Promise.all(opened.map(({ instance }) => instance.destroy()))
    await close()
    assert.equal(cluster.calls.delete_pod, cluster.calls.create_pod)
    assert.equal(cluster.calls.create_secret, cluster.calls.create_pod)
    await eventually('nothing is left', async () => (await leftOf([...ids])).length === 0)
  },
)

test(
  'another server takes over what a server left, with its connections in the browser',
  { timeout: 120_000 },
  async (t) => {
    const first = await openDriver(t)
    const given = options()
    const mine = await first.start(given)
    await shell(t, mine, 'echo kept > /home/kernel/kept')
    const second = await openDriver(t, { serverId: 'server-2' })
    assert.deepEqual(await second.adopt(), [], 'what another server made is not its own')
    const theirs = await second.find(given.id)
    assert.ok(theirs)
    cleanUpAfter(t, () => theirs.destroy())
    assert.equal((await shell(t, theirs, 'cat /home/kernel/kept')).stdout, 'kept')
    assert.equal(await mine.ended, 'taken-over')
    await mine.destroy()
    await readState(new AgentClient(theirs))
    assert.equal(await second.find('nothing'), undefined)
    await theirs.destroy()
    assert.equal(await theirs.ended, 'destroyed')
    await eventually('nothing is left', async () => (await leftOf([given.id])).length === 0)
  },
)

test('a server whose container starts again adopts what it made', { timeout: 120_000 }, async (t) => {
  const before = await openDriver(t)
  const given = options()
  await before.start(given)
  await before.close()
  const again = await openDriver(t)
  const [adopted, ...others] = await again.adopt()
  assert.equal(adopted?.id, given.id)
  assert.deepEqual(others, [])
  await readState(new AgentClient(adopted))
  await adopted.destroy()
})

test('a Pod that somebody deletes is lost, within moments', { timeout: 120_000 }, async (t) => {
  const driver = await openDriver(t)
  const given = options()
  const instance = await driver.start(given)
  const startedAt = performance.now()
  await kubectl('delete', 'pod', podName(given.id), '--wait=false', '--grace-period=0', '--force')
  assert.equal(await instance.ended, 'lost')
  assert.ok(performance.now() - startedAt < 10_000)
  await assert.rejects(instance.connect('api', soon()), /Cannot connect to instance/)
})

test('a full cluster says why, asks for room, and keeps nothing', { timeout: 120_000 }, async (t) => {
  const driver = await openDriver(t, { fullMs: 2_000 })
  const given = options({ memoryBytes: 900_000 * MiB })
  let asked = 0
  await assert.rejects(driver.start({ ...given, onFull: () => asked++ }), (error) => {
    assert.ok(error instanceof NoCapacity)
    assert.match(error.message, /no room: .*Insufficient memory/)
    return true
  })
  assert.ok(asked > 0)
  await eventually('nothing is left', async () => (await leftOf([given.id])).length === 0)
})

test('an image that is not there fails the start and says so', { timeout: 120_000 }, async (t) => {
  const driver = await openDriver(t, {
    place: { ...place, image: 'localhost/no-such-image:1', pullPolicy: 'Never' },
  })
  const given = options()
  await assert.rejects(driver.start(given), /ErrImageNeverPull/)
  await eventually('nothing is left', async () => (await leftOf([given.id])).length === 0)
})

test('a Pod that no server holds ends by itself', { timeout: 120_000 }, async (t) => {
  const driver = await openDriver(t, { leaseSeconds: 3 })
  const given = { ...options(), agent: { leaseSeconds: 3 } }
  await driver.start(given)
  await driver.close()
  const over = AbortSignal.timeout(60_000)
  const phase = () => kubectl('get', 'pod', podName(given.id), '--output', 'jsonpath={.status.phase}')
  await eventually('the Pod ends', async () => over.aborted || /Failed|Succeeded/.test(await phase()), 70_000)
  assert.match(await phase(), /Failed|Succeeded/)
  await kubectl('delete', 'pod', podName(given.id), '--wait=false')
})

test('a server that was released keeps nothing open', { timeout: 120_000 }, async (t) => {
  const driver = await openDriver(t)
  const given = options()
  const instance = await driver.start(given)
  const stream = await instance.connect('api', soon())
  const closed = once(stream, 'close')
  await driver.close()
  await closed
  const again = await openDriver(t)
  await (await again.find(given.id))?.destroy()
})
