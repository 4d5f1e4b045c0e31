// One of two servers is killed while one of them starts a session for the other: nothing remains that nobody knows. With
// fake instances; room.test.ts has real ones.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { NEVER_STARTS } from '../fixtures/fake/fake-driver.ts'
import { areSettled, create, holding, liveOn, newFleet, sessionRows, startFull } from '../fixtures/fleets.ts'
import { eventually } from '../fixtures/host.ts'
import type { TestServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'

/** Kills the other server while the commit waits for this table, as its first statement or when it has written others. */
async function killBeforeCommit(t: TestContext, table: string, { hasWritten }: { hasWritten: boolean }) {
  const start = await newFleet(t)
  const [one, other] = await Promise.all([startFull(start), start(holding(1))])
  const client = new Client(one.databaseUrl)
  client.on('error', () => {})
  await client.connect()
  cleanUpAfter(t, () => client.end())
  await client.query('BEGIN')
  await client.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`)
  const asked = create(one, { name: 'held' }, { 'idempotency-key': 'held' })
  await eventually('the commit waits', async () => {
    const statement = `SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE NOT granted AND relation = $1::regclass AND (backend_xid IS NOT NULL) = $2`
    return (await query(one, statement, [table, hasWritten])).length > 0
  })
  await other.stop('SIGKILL')
  await client.query('ROLLBACK')
  const back = () => start({ dataDir: other.dataDir, ...holding(1) })
  return { answer: await asked, one, other, back }
}

test('when the other server is killed before the commit, the answer is 503 and nothing remains', async (t) => {
  const { answer, one, other, back } = await killBeforeCommit(t, 'idempotency_keys', { hasWritten: false })
  assert.equal(answer.status, 503, JSON.stringify(answer.body))
  assert.match(answer.body.message!, /the server that started it is gone; try again/)
  await eventually('its row is over', async () => (await liveOn(one, other))[1] === 0)
  const again = await back()
  await areSettled(one, again)
  const key = { 'idempotency-key': 'held' }
  assert.equal((await create(one, { name: 'held' }, key)).status, 200, 'the repeat makes one')
})

test('when the other server is killed in the moment of the commit, the session is one of a lost server', async (t) => {
  const { answer, one, back } = await killBeforeCommit(t, 'audit_logs', { hasWritten: true })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const again = await back()
  await areSettled(one, again)
  const seen = await send(one, 'GET', `/browsers/${answer.body.session_id}?include_deleted=true`)
  assert.equal(seen.body.end_reason, 'lost')
})

for (const at of ['elsewhere-started', 'before-commit']) {
  test(`when the asking server is killed at ${at}, nothing remains`, async (t) => {
    const start = await newFleet(t)
    const full = await startFull(start)
    const [doomed, other] = await Promise.all([
      start({ env: { BERTH_HOST_MAX_SESSIONS: '1', BERTH_CRASH_AT: at } }),
      start(holding(1)),
    ])
    // Full without a session of its own: its first create would pass the same point.
    await takeTheOnlyPlace(t, doomed)
    await assert.rejects(create(doomed, { name: 'lost' }))
    await eventually('it is killed', () => doomed.process.signalCode === 'SIGKILL')
    await eventually('the other server has ended it', async () => {
      const rows = await sessionRows(full)
      return rows.some(({ name, state, end_reason }) => {
        return name === 'lost' && state === 'ended' && end_reason === 'start_failed'
      })
    })
    const back = await start({ dataDir: doomed.dataDir, ...holding(1) })
    await areSettled(full, other, back)
    assert.deepEqual(await liveOn(full, other, back), [1, 0, 0])
    assert.equal((await create(full, { name: 'lost' })).status, 200, 'name and place are free')
  })
}

test('when the asking server is killed after its commit, the session stays, and a repeat gives it', async (t) => {
  const start = await newFleet(t)
  const [doomed, other] = await Promise.all([
    start({ env: { BERTH_HOST_MAX_SESSIONS: '1', BERTH_CRASH_AT: 'after-commit' } }),
    start(holding(1)),
  ])
  await takeTheOnlyPlace(t, doomed)
  const key = { 'idempotency-key': 'kept' }
  await assert.rejects(create(doomed, {}, key))
  await eventually('it is killed', () => doomed.process.signalCode === 'SIGKILL')
  const again = await create(other, {}, key)
  assert.equal(again.status, 200)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  const session = await send(other, 'GET', `/browsers/${again.body.session_id}`)
  assert.equal(session.body.end_reason, undefined)
  const back = await start({ dataDir: doomed.dataDir, ...holding(1) })
  await areSettled(other, back)
  assert.deepEqual(await liveOn(other, back), [1, 0])
})

for (const at of ['browser-reserved', 'browser-started', 'started-for-another']) {
  test(`when the other server is killed at ${at}, the next one is asked`, async (t) => {
    const start = await newFleet(t)
    const [one, next] = await Promise.all([startFull(start), start(holding(2))])
    const doomed = await start({ env: { BERTH_HOST_MAX_SESSIONS: '9', BERTH_CRASH_AT: at } })
    const answer = await create(one, { name: 'kept' })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.equal(doomed.process.signalCode ?? (await once(doomed.process, 'exit'))[1], 'SIGKILL')
    assert.deepEqual(await liveOn(one, next, doomed), [1, 1, 0], 'the row of the killed one is over')
    const back = await start({ dataDir: doomed.dataDir, ...holding(9) })
    await areSettled(one, next, back)
    assert.deepEqual(await liveOn(one, next, back), [1, 1, 0])
  })
}

/** With a session that never starts, and so never passes a point of the commit. */
async function takeTheOnlyPlace(t: TestContext, server: TestServer): Promise<void> {
  const leaving = new AbortController()
  const body = JSON.stringify({ headless: true, timezone: NEVER_STARTS })
  const headers = { 'content-type': 'application/json' }
  const asked = server.fetch('/browsers', { method: 'POST', headers, body, signal: leaving.signal })
  asked.catch(() => {})
  cleanUpAfter(t, () => leaving.abort())
  await eventually('it has its place', async () => (await liveOn(server))[0] === 1)
}
