// The server is killed between the steps of a create, a delete and a refill. The next server finds a complete
// session, or ends its remains and says why. Each server checks what the previous one left, and is killed at its own
// point.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { agrees } from '../fixtures/agreement.ts'
import { withCdp } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { createSession, listSessions, metric, query, readSession, send } from '../fixtures/sessions.ts'
import { sample } from '../tiers.ts'

interface Row {
  readonly id: string
  readonly name: string
  readonly instance_id: string
  readonly end_reason: string | null
}

const rowsOf = (server: TestServer) =>
  query<Row>(server, 'SELECT id, name, instance_id, end_reason FROM browsers ORDER BY created_at')

/** A server over the same data that crashes at the point. */
function startDoomed(t: TestContext, dataDir: string, at: string, warm = 0): Promise<TestServer> {
  const env = { BERTH_CRASH_AT: at, BERTH_WARM_HEADLESS: String(warm) }
  return startServer(t, { hasRealInstances: true, dataDir, env })
}

const isKilled = ({ process }: TestServer) => process.signalCode === 'SIGKILL'
const killed = (server: TestServer, at: string) => eventually(`a kill at ${at}`, () => isKilled(server))

/** Named after the crash point of its server, and repeatable. */
function create(server: TestServer, at: string) {
  const body = { headless: true, name: at, viewport: { width: 800, height: 600 } }
  return send(server, 'POST', '/browsers', body, { 'idempotency-key': at })
}

test('a kill at any point of a create leaves a session or none, and a retry creates one', async (t) => {
  const dataDir = tempDir(t)
  // The create claims a warm instance if there is one; otherwise it starts its own.
  const all = [
    { at: 'browser-claimed', warm: 1 },
    { at: 'browser-reserved', warm: 1 },
    { at: 'browser-started', warm: 1 },
    { at: 'instance-recorded', warm: 0 },
    { at: 'instance-limited', warm: 0 },
    { at: 'instance-spawned', warm: 0 },
    { at: 'instance-ready', warm: 0 },
    { at: 'after-commit', warm: 0 },
  ]
  const points = sample(all, 'crashPoints')
  for (const { at, warm } of points) {
    const server = await startDoomed(t, dataDir, at, warm)
    // Checked first: an instance that is still starting has a directory but does not count as warm yet.
    if (warm > 0) await hasWarm(server)
    await agrees(server)
    assert.deepEqual(await listSessions(server), [], `before ${at}`)
    const answer = await create(server, at).catch(() => undefined)
    // Some points kill the keeper, and its server may still say that it failed.
    assert.ok(answer === undefined || answer.status >= 500, `${at}: ${JSON.stringify(answer)}`)
    await killed(server, at)
  }

  const server = await startServer(t, { hasRealInstances: true, dataDir })
  const left = await rowsOf(server)
  const expected = points.map(({ at }) => [at, at === 'after-commit' ? null : 'start_failed'])
  assert.deepEqual(
    left.map(({ name, end_reason }) => [name, end_reason]),
    expected.filter(([name]) => name !== 'browser-claimed'),
  )
  await agrees(server)

  for (const { at } of points) {
    const again = await create(server, at)
    assert.equal(again.status, 200, `${at}: ${JSON.stringify(again.body)}`)
    assert.equal(again.headers.get('idempotent-replayed'), at === 'after-commit' ? 'true' : null)
  }
  const sessions = await listSessions(server)
  assert.deepEqual(new Set(sessions.map(({ name }) => name)), new Set(points.map(({ at }) => at)))
  assert.equal(sessions.length, points.length)
  for (const { cdp_ws_url, name } of sessions) {
    const size = await withCdp(cdp_ws_url, (cdp) => cdp.evaluate('[innerWidth, innerHeight]'))
    assert.deepEqual(size, [800, 600], name)
  }
  const instances = (await rowsOf(server)).map(({ instance_id }) => instance_id)
  assert.equal(new Set(instances).size, instances.length, 'no browser is handed out twice')
  await agrees(server)
})

test('a kill at any point of a delete leaves the session complete or removed', async (t) => {
  const dataDir = tempDir(t)
  const all = ['before-commit', 'after-commit', 'instance-killed', 'instance-ungrouped', 'instance-removed']
  const points = sample(all, 'crashPoints')
  let server = await startServer(t, { hasRealInstances: true, dataDir })
  const sessions = await Promise.all(points.map((name) => createSession(server, { name })))
  for (const { session_id, name: at } of sessions) {
    await server.stop('SIGTERM')
    const doomed = await startDoomed(t, dataDir, at!)
    // The answer may come before the crash.
    await send(doomed, 'DELETE', `/browsers/${at}`).catch(() => undefined)
    await killed(doomed, at!)
    // The repair passes the same points, so a server without crash points does it.
    server = await startServer(t, { hasRealInstances: true, dataDir })
    await agrees(server)
    const found = await readSession(server, session_id)
    const isAlive = at === 'before-commit'
    assert.equal(found.end_reason, isAlive ? undefined : 'deleted', at)
    assert.equal(found.deleted_at === undefined, isAlive, at)
    if (isAlive) assert.equal(await withCdp(found.cdp_ws_url, (cdp) => cdp.evaluate('1 + 1')), 2)
    assert.equal((await send(server, 'DELETE', `/browsers/${session_id}`)).status, 204, 'again')
  }
  await agrees(server)
})

test('kills during a refill leave nothing, and the next server has its warm instance', async (t) => {
  const dataDir = tempDir(t)
  for (const at of ['instance-spawned', 'instance-ready']) {
    await startDoomed(t, dataDir, at, 1).then(
      (server) => killed(server, at),
      // It may reach the point before it serves requests.
      (error: Error) => assert.match(error.message, /ended with code null/),
    )
  }
  const server = await startServer(t, { hasRealInstances: true, dataDir, env: { BERTH_WARM_HEADLESS: '1' } })
  await hasWarm(server)
  await agrees(server)
  assert.deepEqual(await rowsOf(server), [])
})

async function hasWarm(server: TestServer): Promise<void> {
  const count = () => metric(server, 'berth_warm_instances{kind="headless"}')
  await eventually('an instance is warm', async () => (await count()) === 1)
}
