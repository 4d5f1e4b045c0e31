// The driver for Kubernetes on a stand-in for a cluster: watches that end, lists of many Pods, Pods of other servers.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { pino } from 'pino'
import type { V1Pod } from '@kubernetes/client-node'
import { Cluster } from '@berth/server/instances/kubernetes/cluster'
import { isLitter } from '@berth/server/instances/kubernetes/pod-state'
import { PodWatch } from '@berth/server/instances/kubernetes/pod-watch'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { startCluster } from '../fixtures/cluster/start.ts'
import { eventually } from '../fixtures/host.ts'

const SELECTOR = 'app.kubernetes.io/name=berth-instance'
const log = pino({ level: 'silent' })

async function startWatch(t: TestContext) {
  const standIn = await startCluster(t)
  const cluster = await Cluster.open({
    kubeconfig: readFileSync(standIn.kubeconfig, 'utf8'),
    namespace: 'default',
  })
  const seen: { name: string; isDeleted: boolean }[] = []
  const watch = new PodWatch({
    cluster,
    log,
    labelSelector: SELECTOR,
    onPod: ({ metadata }: V1Pod, isDeleted) => seen.push({ name: metadata?.name ?? '', isDeleted }),
  })
  cleanUpAfter(t, () => watch.close())
  await watch.ready
  const create = (name: string) =>
    cluster.createPod({
      metadata: { name, labels: { 'app.kubernetes.io/name': 'berth-instance' } },
      spec: { containers: [{ name: 'link' }] },
    })
  const watching = () => eventually('it watches', async () => (await standIn.report()).watchers === 1, 10_000)
  await watching()
  return { standIn, cluster, watch, seen, create, watching }
}

test('a watch that the cluster ends goes on where it ended, without another list', async (t) => {
  const { standIn, cluster, watch, create, watching } = await startWatch(t)
  await create('one')
  await eventually('the first is seen', () => watch.find('one') !== undefined)
  await standIn.order({ endWatches: true })
  // While nobody watches, if it is quick enough.
  await create('two')
  await cluster.deletePod('one')
  await eventually('the second is seen', () => watch.find('two') !== undefined, 10_000)
  await eventually('the end of the first is seen', () => watch.find('one') === undefined, 10_000)
  await watching()
  assert.equal(cluster.calls.list_pods, 1)
  assert.ok(cluster.calls.watch_pods >= 2)
})

test('when the cluster no longer knows where a watch ended, all are listed again', async (t) => {
  const { standIn, cluster, watch, seen, create } = await startWatch(t)
  await create('one')
  await eventually('the first is seen', () => watch.find('one') !== undefined)
  await standIn.order({ hold: true, endWatches: true })
  await cluster.deletePod('one')
  await create('two')
  await standIn.order({ forget: true, endWatches: true })
  await eventually('the second is seen', () => watch.find('two') !== undefined, 10_000)
  await eventually('the end of the first is seen', () => watch.find('one') === undefined, 10_000)
  assert.ok(seen.some(({ name, isDeleted }) => name === 'one' && isDeleted))
})

test('many Pods come in parts, and all of them', async (t) => {
  const { standIn, cluster, watch, create, watching } = await startWatch(t)
  await create('one')
  await eventually('the first is seen', () => watch.find('one') !== undefined)
  await standIn.order({ ghosts: 600, forget: true, endWatches: true })
  await eventually('they are listed', () => cluster.calls.list_pods === 1 + 3, 20_000)
  await watching()
  assert.equal(watch.pods.length, 601)
})

test('what is known of a Pod is the same from a list and from a watch, and no more than is read', async (t) => {
  const { standIn, watch, create, watching } = await startWatch(t)
  await create('one')
  await eventually('it is seen', () => watch.find('one')?.status?.conditions !== undefined)
  const fromWatch = watch.find('one')!
  // Another server's sweep asks this of each Pod.
  assert.equal(isLitter(fromWatch, Date.now()), false)
  assert.equal(isLitter(fromWatch, Date.now() + 3_600_000), true)
  assert.equal(fromWatch.spec, undefined)
  await standIn.order({ forget: true, endWatches: true })
  await eventually('it is listed', () => watch.find('one') !== fromWatch, 10_000)
  await watching()
  assert.deepEqual(Object.keys(watch.find('one')!.metadata!), Object.keys(fromWatch.metadata!))
  assert.deepEqual(watch.find('one')!.metadata!.creationTimestamp, fromWatch.metadata!.creationTimestamp)
})
