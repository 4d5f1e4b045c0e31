// One of two servers goes: its sessions go on at the other one, with what was in them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../fixtures/host.ts'
import { createSession, type Session } from '../../fixtures/sessions.ts'
import { Fleet, type Entrance, type Pod } from './fleet.ts'
import { ask, askThrough, killServer } from './loss.ts'
import { assertAllKept, insist, startWork } from './work.ts'

const TEST_MS = 600_000
const LEASE_SECONDS = 20

test('no session is lost when a server is killed and its Pod deleted', { timeout: TEST_MS }, async (t) => {
  const fleet = await Fleet.install(t, { settings: { BERTH_LEASE_SECONDS: String(LEASE_SECONDS) } })
  const [first, second] = (await fleet.servers()) as [Pod, Pod]
  const sessions: Session[] = []
  for (const server of [first, first, second, second]) sessions.push(await createSession(fleet.at(server)))
  for (const session of sessions) await mark(session, 'kept')
  const killedAt = performance.now()
  killServer(first)
  await fleet.kubectl('delete', 'pod', first.metadata.name, '--grace-period=0', '--force', '--wait=false')
  const rest = fleet.at(second)
  for (const session of sessions) await stillHas(rest, session, 'kept')
  t.diagnostic(`all sessions answer after ${((performance.now() - killedAt) / 1000).toFixed(1)} s`)
  await eventually('there are two servers again', async () => (await fleet.servers()).length === 2, 180_000)
  // Longer than a lease, so somebody renews those of the one that is gone.
  await new Promise((resolve) => setTimeout(resolve, (LEASE_SECONDS + 5) * 1000))
  for (const server of await fleet.servers()) {
    for (const session of sessions) await stillHas(fleet.at(server), session, 'kept')
  }
  for (const { session_id: id } of sessions) await insist(fleet, () => {}, 'DELETE', `/browsers/${id}`)
  await fleet.assertNothingLeft()
})

test(
  'a rolling update under load loses no session and nothing acknowledged',
  { timeout: TEST_MS },
  async (t) => {
    const fleet = await Fleet.install(t, { settings: { BERTH_LEASE_SECONDS: String(LEASE_SECONDS) } })
    const before = await fleet.servers()
    const held = [await createSession(fleet), await createSession(fleet)]
    for (const session of held) await mark(session, 'held')
    const work = startWork(fleet, 2)
    await fleet.upgrade({ podAnnotations: { 'berth.dev/test': 'updated' } })
    const after = await fleet.servers()
    await eventually(
      'the old servers are gone',
      async () => {
        const names = (await fleet.pods('app.kubernetes.io/component=server')).map(
          ({ metadata }) => metadata.name,
        )
        return before.every(({ metadata }) => !names.includes(metadata.name))
      },
      180_000,
    )
    await work.stop()
    t.diagnostic(`${work.counts.requests} requests, ${work.counts.again} of them made again`)
    assert.ok(work.sessions.size > 0, 'sessions were made during the update')
    assert.equal(after.length, 2)
    await assertAllKept(fleet, work)
    for (const session of held) await stillHas(fleet, session, 'held')
    const ids = [...work.sessions.keys(), ...held.map(({ session_id }) => session_id)]
    for (const id of ids) await insist(fleet, () => {}, 'DELETE', `/browsers/${id}`)
    await fleet.assertNothingLeft()
  },
)

const mark = (session: Session, value: string) => ask(session, `globalThis.mark = '${value}'`)

/** The same page, through a server that may have to take the session over first. */
async function stillHas(server: Entrance, session: Session, value: string): Promise<void> {
  const seen = { expression: 'globalThis.mark', withinMs: 3 * LEASE_SECONDS * 1000 }
  assert.equal(await askThrough(server, session, seen), value)
}
