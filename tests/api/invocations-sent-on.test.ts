// Invocations whose server has no room for another instance, with fake instances.
import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { deploy, invoke } from '../fixtures/apps.ts'
import { NEVER_STARTS } from '../fixtures/fake/fake-driver.ts'
import { newFleet, serverIdOf } from '../fixtures/fleets.ts'
import { eventually } from '../fixtures/host.ts'
import { tempDir, type TestServer } from '../fixtures/server.ts'
import { query } from '../fixtures/sessions.ts'

const STARTS_AT_ONCE = Math.max(2, 2 * availableParallelism())
const WAITING_STARTS = 1

test('an invocation whose server has no room for another instance is sent on', async (t) => {
  // One directory stands for one bucket: every server starts every app.
  const blobs = tempDir(t)
  const env = { BERTH_BLOBS: blobs, BERTH_MAX_WAITING_STARTS: String(WAITING_STARTS) }
  const start = await newFleet(t, { env })
  // Sessions are for servers of their region only.
  const elsewhere = { env: { BERTH_REGION: 'eu-west' } }
  const [home, one, other] = await Promise.all([start(), start(), start(elsewhere)])
  await deploy(home, { files: { 'index.js': '' } })
  // With it goes the instance that it keeps ready.
  assert.equal(await home.stop('SIGINT'), 0)
  const leave = await fillStartQueue(one)
  const wanted = { app_name: 'sample', action_name: 'sample' }
  const answer = await invoke(one, wanted)
  assert.equal(answer.body.status, 'succeeded', JSON.stringify(answer.body))
  const ranBy = 'SELECT server_id FROM invocations WHERE id = $1'
  assert.deepEqual(await query(one, ranBy, [answer.body.id]), [{ server_id: serverIdOf(other) }])

  await other.stop('SIGINT')
  const alone = await invoke(one, wanted)
  assert.equal(alone.body.status, 'failed')
  assert.match(alone.body.status_reason ?? '', /there is no room for it: /)
  leave()
})

/** With sessions that start until the returned function is called. */
async function fillStartQueue(server: TestServer): Promise<() => void> {
  const leaving = new AbortController()
  const body = JSON.stringify({ headless: true, timezone: NEVER_STARTS })
  const headers = { 'content-type': 'application/json' }
  let isFull = false
  for (let count = 0; count < STARTS_AT_ONCE + WAITING_STARTS + 1; count++) {
    const asked = server.fetch('/browsers', { method: 'POST', headers, body, signal: leaving.signal })
    asked.then(
      ({ status }) => (isFull ||= status === 529),
      () => {},
    )
  }
  await eventually('one is refused', () => isFull)
  return () => leaving.abort()
}
