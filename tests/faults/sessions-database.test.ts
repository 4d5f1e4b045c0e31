// Sessions while the database is away: running ones continue, and changes are written later.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agrees } from '../fixtures/agreement.ts'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { FaultProxy } from '../fixtures/fault-proxy.ts'
import { eventually, instanceDirs } from '../fixtures/host.ts'
import { partsOf } from '../fixtures/parts.ts'
import { databaseUrl, startPostgres } from '../fixtures/postgres.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, endsAs, instanceOf, query, send } from '../fixtures/sessions.ts'

const HEALS_WITHIN_MS = 5_000

test('CDP works without the database, and everything is consistent within 5 s of its return', async (t) => {
  const postgres = await startPostgres(t)
  const proxy = await FaultProxy.start(t, postgres.socketDir)
  const server = await startServer(t, {
    hasRealInstances: true,
    env: { DATABASE_URL: databaseUrl(proxy.socketDir) },
  })
  const [lasting, crashing] = await Promise.all([createSession(server), createSession(server)])
  const cdp = await CdpClient.open(lasting.cdp_ws_url)
  // Keeps it awake: nothing ends by itself on standby, and on a busy host the create below takes longer than that.
  await CdpClient.open(crashing.cdp_ws_url)
  const [agent] = partsOf(await instanceOf(server, crashing), 'agent')

  // Cut off during a create, when its row exists and its instance is not ready.
  const known = new Set(instanceDirs(server.dataDir))
  const interrupted = send(server, 'POST', '/browsers', { headless: true, name: 'interrupted' })
  await eventually('its instance is begun', () => instanceDirs(server.dataDir).some((id) => !known.has(id)))
  await proxy.refuse()

  for (const { status, headers, body } of [
    await interrupted,
    await send(server, 'POST', '/browsers', { headless: true }),
    await send(server, 'DELETE', `/browsers/${lasting.session_id}`),
  ]) {
    assert.deepEqual([status, body.code], [503, 'unavailable'], body.message)
    assert.equal(headers.get('retry-after'), '1')
  }
  process.kill(agent!.pid, 'SIGKILL')
  const newcomer = withCdp(lasting.cdp_ws_url, (again) => again.evaluate('1 + 1'))
  assert.equal(await newcomer, 2, 'a new client is let in')
  const until = performance.now() + 2_000
  for (let count = 0; performance.now() < until; count++) {
    assert.equal(await cdp.evaluate(`${count} + 1`, { ms: 1_000 }), count + 1)
  }

  await proxy.accept()
  const backAt = performance.now()
  const isReady = async () => (await server.fetch('/ready', { key: null })).status === 200
  await eventually('it is ready again', isReady, HEALS_WITHIN_MS)
  await endsAs(server, crashing, { reason: 'crashed', withinMs: HEALS_WITHIN_MS })
  const reasonOf = async () =>
    (
      await query<{ end_reason: string }>(
        server,
        `SELECT end_reason FROM browsers WHERE name = 'interrupted'`,
      )
    )[0]
  await eventually(
    'the interrupted create has ended',
    async () => (await reasonOf())?.end_reason === 'start_failed',
    HEALS_WITHIN_MS,
  )
  const healedMs = Math.round(performance.now() - backAt)
  assert.ok(healedMs < HEALS_WITHIN_MS, `${healedMs} ms`)
  t.diagnostic(`healed after ${healedMs} ms`)
  assert.equal(await cdp.evaluate('6 * 7'), 42)

  // A refusal is better than bytes that are silently lost.
  proxy.hold()
  const waiting = send(server, 'DELETE', `/browsers/${lasting.session_id}`)
  assert.equal(await cdp.evaluate('6 * 7'), 42)
  assert.equal(await withCdp(lasting.cdp_ws_url, (again) => again.evaluate('1 + 1')), 2)
  proxy.cut()
  assert.equal((await waiting).status, 503)
  await eventually('it is ready again', isReady, HEALS_WITHIN_MS)
  assert.equal((await send(server, 'DELETE', `/browsers/${lasting.session_id}`)).status, 204)
  await agrees(server)
})
