// A node is cut off and comes back, or is drained: its sessions end, those of the other node go on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserPool } from '@berth/contracts/browser-pools'
import { eventually } from '../../fixtures/host.ts'
import { createSession, readSession, send, type Session } from '../../fixtures/sessions.ts'
import { kubectlIn } from '../cluster.ts'
import { Fleet, type Entrance } from './fleet.ts'
import { cutOff, nodes, runOn, type TestNode } from './machine.ts'
import { insist } from './work.ts'

const TEST_MS = 900_000
const LOST_WITHIN_MS = 60_000
const [stays, goes] = nodes as readonly [TestNode, TestNode]

test(
  'the sessions of a node that is cut off end as lost, and pools are filled elsewhere',
  { timeout: TEST_MS },
  async (t) => {
    const fleet = await Fleet.install(t)
    const server = await serverOn(fleet, stays)
    const sessions = await sessionsOnBoth(fleet, server)
    const pool = await newPool(server, 2)
    await eventually(
      'the pool is full',
      async () => (await readPool(server, pool)).available_count === 2,
      120_000,
    )
    const cutAt = performance.now()
    const cut = cutOff(t, goes)
    for (const session of sessions.goes) {
      await eventually(
        `session ${session.session_id} ends`,
        async () => (await readSession(server, session.session_id)).deleted_at !== undefined,
        4 * LOST_WITHIN_MS,
      )
      assert.equal((await readSession(server, session.session_id)).end_reason, 'lost')
    }
    const tookMs = performance.now() - cutAt
    t.diagnostic(`ended as lost after ${(tookMs / 1000).toFixed(1)} s`)
    assert.ok(tookMs <= LOST_WITHIN_MS, `${tookMs} ms`)
    for (const session of sessions.stays) await answers(server, session)
    await eventually(
      'the pool is full again, without the node',
      async () => {
        const { available_count: available } = await readPool(server, pool)
        const there = (await fleet.instances()).filter(({ spec }) => spec.nodeName === goes.name)
        return available === 2 && there.length === 0
      },
      180_000,
    )
    t.diagnostic(`pool full after ${((performance.now() - cutAt) / 1000).toFixed(1)} s`)
    cut.mend()
    await kubectlIn('', 'wait', '--for=condition=Ready', '--timeout=180s', `node/${goes.name}`)
    for (const session of sessions.stays) await answers(server, session)
    await hasNoInstances(fleet, goes)
    await eventually('both servers are ready', async () => (await fleet.servers()).length === 2, 300_000)
    await send(server, 'DELETE', `/browser_pools/${pool.id}`, { force: true })
    for (const { session_id: id } of sessions.stays)
      await insist(server, () => {}, 'DELETE', `/browsers/${id}`)
    await fleet.assertNothingLeft()
  },
)

test(
  'draining a node ends its sessions and no others, and keeps servers running',
  { timeout: TEST_MS },
  async (t) => {
    const fleet = await Fleet.install(t)
    const server = await serverOn(fleet, stays)
    const sessions = await sessionsOnBoth(fleet, server)
    t.after(() => kubectlIn('', 'uncordon', goes.name))
    const drained = kubectlIn(
      '',
      'drain',
      goes.name,
      '--ignore-daemonsets',
      '--delete-emptydir-data',
      '--force',
      '--timeout=300s',
      '--pod-selector=app.kubernetes.io/name in (berth, berth-instance)',
    )
    let lowest = 2
    let isOver = false
    const watching = eventually(
      'the drain is over',
      async () => {
        lowest = Math.min(lowest, (await fleet.servers()).length)
        return isOver
      },
      300_000,
    )
    await drained.finally(() => (isOver = true))
    await watching
    assert.ok(lowest >= 1, 'a server was ready all the time')
    for (const session of sessions.goes) {
      await eventually(
        `session ${session.session_id} ends`,
        async () => (await readSession(server, session.session_id)).deleted_at !== undefined,
        LOST_WITHIN_MS,
      )
      assert.equal((await readSession(server, session.session_id)).end_reason, 'lost')
    }
    for (const session of sessions.stays) await answers(server, session)
    await hasNoInstances(fleet, goes)
    await eventually(
      'there are two servers on the other node',
      async () => (await fleet.servers()).length === 2,
      300_000,
    )
    for (const { session_id: id } of sessions.stays)
      await insist(fleet, () => {}, 'DELETE', `/browsers/${id}`)
    await fleet.assertNothingLeft()
  },
)

async function serverOn(fleet: Fleet, { name }: TestNode): Promise<Entrance> {
  const found = (await fleet.servers()).find(({ spec }) => spec.nodeName === name)
  assert.ok(found, `a server runs on ${name}`)
  return fleet.at(found)
}

/** At least one on each node. Half of them are made by the server on the node that goes. */
async function sessionsOnBoth(fleet: Fleet, server: Entrance) {
  const entrances = [server, await serverOn(fleet, goes)]
  const found = { stays: [] as Session[], goes: [] as Session[] }
  for (let made = 0; made < 12 && (made < 4 || !found.stays.length || !found.goes.length); made++) {
    const session = await createSession(entrances[made % 2]!)
    const { spec } = await fleet.podOf(session.session_id)
    found[spec.nodeName === goes.name ? 'goes' : 'stays'].push(session)
  }
  assert.ok(found.stays.length > 0 && found.goes.length > 0, 'both nodes have sessions')
  return found
}

async function answers(server: Entrance, { session_id: id }: Session): Promise<void> {
  const { exit_code: code } = await insist<{ exit_code: number }>(
    server,
    () => {},
    'POST',
    `/browsers/${id}/process/exec`,
    { command: 'true' },
  )
  assert.equal(code, 0)
}

async function newPool(server: Entrance, size: number): Promise<BrowserPool> {
  const asked = { size, headless: true, fill_rate_per_minute: 10_000 }
  const { status, body } = await send<BrowserPool>(server, 'POST', '/browser_pools', asked)
  assert.equal(status, 201, JSON.stringify(body))
  return body
}

const readPool = async (server: Entrance, { id }: BrowserPool) =>
  (await send<BrowserPool>(server, 'GET', `/browser_pools/${id}`)).body

/** Neither in the cluster's eyes nor in the node's own. */
async function hasNoInstances(fleet: Fleet, node: TestNode): Promise<void> {
  let left = ''
  const mine = `labels."io.kubernetes.pod.namespace"==${fleet.namespace},labels."io.kubernetes.container.name"==instance`
  await eventually(
    () => `${node.name} has no instances, it has ${left}`,
    async () => {
      const containers = runOn(node, 'ctr', '--namespace=k8s.io', 'containers', 'list', '--quiet', mine)
      const pods = (await fleet.instances()).filter(({ spec }) => spec.nodeName === node.name)
      left = containers + pods.map(({ metadata }) => metadata.name).join()
      return left === ''
    },
    180_000,
  )
}
