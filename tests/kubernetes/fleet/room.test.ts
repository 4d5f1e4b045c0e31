// A full cluster refuses sessions with the reason and takes them again when there is room; and what was used many times
// leaves nothing behind.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../fixtures/host.ts'
import { createSession, listSessions, send, type Session } from '../../fixtures/sessions.ts'
import { isFull } from '../../tiers.ts'
import { kubectlIn } from '../cluster.ts'
import { Fleet } from './fleet.ts'
import { nodes } from './machine.ts'
import { insist } from './work.ts'

const TEST_MS = 900_000
const CYCLES = Number(process.env['BERTH_TEST_CYCLES'] ?? (isFull() ? 200 : 50))
const AT_ONCE = 3
const LINK_PORT = 7443

test(
  'a full cluster answers 529 with the reason, and takes sessions again',
  { timeout: TEST_MS },
  async (t) => {
    // Two fit on each node.
    const memory = Math.floor(0.4 * (await allocatableMb()))
    const fleet = await Fleet.install(t, {
      values: { instances: { memoryPercent: 100 } },
      settings: {
        BERTH_SESSION_MEMORY_MB: String(memory),
        BERTH_SESSION_MAX_MEMORY_MB: String(memory),
        BERTH_KUBERNETES_FULL_SECONDS: '3',
      },
    })
    const sessions: Session[] = []
    for (let wanted = 0; wanted < 2 * nodes.length; wanted++) sessions.push(await createSession(fleet))
    const refused = await send(fleet, 'POST', '/browsers', { headless: true })
    assert.equal(refused.status, 529, JSON.stringify(refused.body))
    assert.match(refused.body.message!, /no room: .*Insufficient memory/)
    assert.ok(refused.headers.get('retry-after'))
    assert.equal((await listSessions(fleet)).length, sessions.length, 'no row of it stays')
    await send(fleet, 'DELETE', `/browsers/${sessions.pop()!.session_id}`)
    sessions.push(await insist<Session>(fleet, () => {}, 'POST', '/browsers', { headless: true }))
    for (const { session_id: id } of sessions) await send(fleet, 'DELETE', `/browsers/${id}`)
    await fleet.assertNothingLeft()
  },
)

test(`${CYCLES} sessions leave no Pod, Secret, row or connection`, { timeout: 10 * TEST_MS }, async (t) => {
  const fleet = await Fleet.install(t, { hasBucket: false })
  let left = CYCLES
  const client = async () => {
    while (left-- > 0) {
      const { session_id: id } = await createSession(fleet)
      const { status } = await send(fleet, 'POST', `/browsers/${id}/process/exec`, { command: 'true' })
      assert.equal(status, 200)
      assert.equal((await send(fleet, 'DELETE', `/browsers/${id}`)).status, 204)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  await fleet.assertNothingLeft()
  for (const { metadata } of await fleet.servers()) {
    let links: string[] = []
    await eventually(
      () => `${metadata.name} has no connections to instances, it has ${links.join('; ')}`,
      async () => (links = await linksOf(fleet, metadata.name)).length === 0,
    )
  }
})

/** Lines of the kernel about connections to instances that a process of the server still has. */
async function linksOf(fleet: Fleet, pod: string): Promise<string[]> {
  const port = LINK_PORT.toString(16).toUpperCase()
  const text = await fleet.kubectl('exec', pod, '--', 'cat', '/proc/net/tcp', '/proc/net/tcp6')
  return text.split('\n').filter((line) => {
    const fields = line.trim().split(/\s+/)
    // Without one, only the kernel has it, which tells a Pod that is gone of the end for minutes.
    const inode = fields[9] ?? '0'
    return fields[2]?.endsWith(`:${port}`) && inode !== '0'
  })
}

/** Of the node that has the least. */
async function allocatableMb(): Promise<number> {
  const text = await kubectlIn(
    '',
    'get',
    'nodes',
    '--output',
    'jsonpath={.items[*].status.allocatable.memory}',
  )
  return Math.min(...text.split(' ').map((amount) => Number(amount.replace('Ki', '')) / 1024))
}
