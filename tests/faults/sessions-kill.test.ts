// The server is killed while many sessions run; the next server continues all of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agrees } from '../fixtures/agreement.ts'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send, type Session } from '../fixtures/sessions.ts'

const hasRealInstances = true

test('ten sessions survive kill -9 with page, name and URL, while warm instances are replaced', async (t) => {
  const env = { BERTH_WARM_HEADLESS: '1' }
  const first = await startServer(t, { hasRealInstances, hasOwnPostgres: true, env })
  const BERTH_PORT = new URL(first.url).port
  const kinds = Array.from({ length: 10 }, (_, index) => ({
    headless: index % 2 === 0,
    name: `kept-${index}`,
  }))
  const sessions: Session[] = []
  // Not all at once: on a busy machine the start queue refuses some, which is another test's subject.
  for (const kind of kinds) sessions.push(await createSession(first, kind))
  const clients = await Promise.all(sessions.map(({ cdp_ws_url }) => CdpClient.open(cdp_ws_url)))
  for (const [index, client] of clients.entries()) await client.evaluate(`globalThis.kept = ${index}`)
  await agrees(first)

  const killedAt = performance.now()
  await first.stop('SIGKILL')
  // A client notices at once: its connection closes, but the browser keeps running.
  for (const client of clients) assert.equal((await client.closed()).code, 1006)

  const second = await startServer(t, {
    hasRealInstances,
    env: { ...env, BERTH_PORT },
    dataDir: first.dataDir,
  })
  t.diagnostic(`serving again ${Math.round(performance.now() - killedAt)} ms after the kill`)
  await agrees(second)
  t.diagnostic(`all agrees ${Math.round(performance.now() - killedAt)} ms after the kill`)
  const kept = await Promise.all(
    sessions.map(({ cdp_ws_url }) => withCdp(cdp_ws_url, (cdp) => cdp.evaluate('globalThis.kept'))),
  )
  assert.deepEqual(kept, [...kinds.keys()])
  for (const { name, session_id } of sessions) {
    assert.equal((await send(second, 'GET', `/browsers/${name}`)).body.session_id, session_id)
    assert.equal((await send(second, 'DELETE', `/browsers/${name}`)).status, 204)
  }
  await agrees(second)
})
