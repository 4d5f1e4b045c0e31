// A session's proxy survives kills of its server and changes through another server. A page never stops sending
// requests; the site must never see one without the proxy.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CdpClient } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { startProxy } from '../fixtures/proxies.ts'
import { startServer, type ServerOptions, type TestServer } from '../fixtures/server.ts'
import { createSession, query, send } from '../fixtures/sessions.ts'
import { startWitness } from '../fixtures/witness.ts'

const DIRECT = '127.0.0.1'

test('a session keeps its proxy over kill -9, follows changes made on another server, and never bypasses it', async (t) => {
  const witness = await startWitness(t)
  const login = { username: 'harbour', password: 'master-of-ships' }
  const [first, second, third] = [
    await startProxy(t, { protocol: 'http', exit: '127.0.0.21', ...login }),
    await startProxy(t, { protocol: 'socks5', exit: '127.0.0.22', ...login }),
    await startProxy(t, { protocol: 'http', exit: '127.0.0.23', ...login }),
  ]
  const open = [witness, first, second, third].map(({ port }) => `host.berth.internal:${port}`)
  const database = await newDatabase(t)
  const start = (options: ServerOptions = {}) =>
    startServer(t, {
      hasRealInstances: true,
      ...options,
      env: {
        DATABASE_URL: database.url,
        BERTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        BERTH_API_KEY: 'sk_replica00000_abcdefghijklmnopqrstuvwxyz012345',
        BERTH_LEASE_SECONDS: '40',
        BERTH_EGRESS_ALLOW: open.join(','),
      },
    })
  const [owner, other] = await Promise.all([start(), start()])
  const newProxy = async (proxy: typeof first) => {
    const { status, body } = await send<{ id: string }>(other, 'POST', '/proxies', proxy.definition)
    assert.equal(status, 201)
    return body.id
  }
  const ids = [await newProxy(first), await newProxy(second), await newProxy(third)] as const
  const session = await createSession(owner, { proxy_id: ids[0] })
  const path = `/browsers/${session.session_id}`
  const change = (server: TestServer, proxy_id: string) => send(server, 'PATCH', path, { proxy_id })

  // Started once and never stopped: it continues without clients and without a server.
  const cdp = await CdpClient.open(session.cdp_ws_url)
  await cdp.evaluate(`location.href = '${witness.url}/'`)
  await eventually('the page is there', () => witness.visits.length > 0)
  await eventually(
    'the page has loaded',
    async () => (await cdp.evaluate('document.readyState')) === 'complete',
  )
  await cdp.evaluate(`{
    const ask = () => fetch('/ip').then(() => setTimeout(ask, 10), () => setTimeout(ask, 10))
    for (let each = 0; each < 3; each++) ask()
    void 0
  }`)
  const lastFrom = () => witness.visits.at(-1)!.from
  const comesFrom = async (exit: string) => {
    const before = witness.visits.length
    await eventually(
      `requests from ${exit}`,
      () => witness.visits.length > before + 20 && lastFrom() === exit,
    )
    assert.deepEqual([...new Set(witness.visits.slice(-10).map(({ from }) => from))], [exit])
  }
  await comesFrom(first.exit)

  const changed = await change(other, ids[1])
  assert.equal(changed.status, 200)
  await eventually('nothing passes the old one', () => first.open() === 0, 1_000)
  const passed = first.passed.length
  await comesFrom(second.exit)
  assert.equal(first.passed.length, passed, 'not one request after the answer')

  await cdp.close()
  await owner.stop('SIGKILL')
  const away = await change(other, ids[2])
  assert.deepEqual([away.status, away.body.code], [503, 'unavailable'], 'nobody has followed yet')
  assert.match(away.body.message!, /the change applies when it does/)
  // Clients retry a 503. That the row already has the new value does not make it a success.
  const repeated = change(other, ids[2])
  const again = await start({ dataDir: owner.dataDir })
  assert.equal((await repeated).status, 200)
  await comesFrom(third.exit)

  // If the proxy is unknown, the session must not connect directly.
  await again.stop('SIGKILL')
  const [kept] = await query<{ credentials: Buffer }>(
    other,
    'SELECT credentials FROM proxies WHERE id = $1',
    [ids[2]],
  )
  await query(other, 'UPDATE proxies SET credentials = $2 WHERE id = $1', [ids[2], Buffer.alloc(100)])
  const before = witness.visits.length
  const last = await start({ dataDir: owner.dataDir })
  await eventually('it says so', () => last.output().includes('traffic of a session is blocked'))
  const client = await CdpClient.open(
    session.cdp_ws_url.replace(new URL(owner.url).host, new URL(last.url).host),
  )
  const answers = await client.evaluate(`Promise.all(Array.from({ length: 5 }, () =>
    fetch('/ip?closed').then((answer) => answer.status, () => 'failed')))`)
  assert.deepEqual(answers, Array(5).fill(502))
  assert.equal(witness.visits.length, before)
  // It recovers without help.
  await query(other, 'UPDATE proxies SET credentials = $2 WHERE id = $1', [ids[2], kept!.credentials])
  await eventually('it goes on', () => witness.visits.length > before && lastFrom() === third.exit)
  await client.close()

  assert.equal(witness.connections.get(DIRECT), undefined, 'nothing ever came by the direct way')
  assert.equal((await send(last, 'DELETE', path)).status, 204)
})
