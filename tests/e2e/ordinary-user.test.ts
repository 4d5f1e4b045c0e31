// A server that an ordinary user starts. There is no root to keep the instances, so the server makes them itself, as far
// as the machine allows, and says what is missing.
import assert from 'node:assert/strict'
import { chownSync } from 'node:fs'
import { test } from 'node:test'
import { findAccount } from '@berth/server/platform/account'
import { withCdp } from '../fixtures/cdp.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'

// It owns the database of the tests.
const uid = findAccount()?.uid ?? process.getuid!()

test('an ordinary user may start the server, which says what is missing', async (t) => {
  const dataDir = tempDir(t)
  chownSync(dataDir, uid, uid)
  const server = await startServer(t, { hasRealInstances: true, dataDir, uid })
  assert.equal((await server.fetch('/org/projects')).status, 200)
  const { status, body } = await send(server, 'POST', '/browsers', { headless: true })
  assert.deepEqual([status, body.code], [503, 'sessions_unavailable'])
  assert.match(body.message!, /does not run as root.*: run it as root/)
  assert.match(server.output(), /no browser sessions on this host/)
})

test('with weak isolation allowed, its sessions work where the machine lets it make sandboxes', async (t) => {
  const dataDir = tempDir(t)
  chownSync(dataDir, uid, uid)
  const env = { BERTH_ALLOW_WEAK_ISOLATION: 'true' }
  const server = await startServer(t, { hasRealInstances: true, dataDir, uid, env })
  assert.match(server.output(), /"weakness":"The server does not run as root/)
  const { status, body } = await send(server, 'POST', '/browsers', { headless: true })
  if (status === 503) {
    assert.match(body.message!, /Bubblewrap cannot make a sandbox here/)
    t.diagnostic(body.message!)
    return
  }
  assert.equal(status, 200, JSON.stringify(body))
  const { cdp_ws_url } = body as unknown as { cdp_ws_url: string }
  assert.equal(await withCdp(cdp_ws_url, (cdp) => cdp.evaluate('6 * 7')), 42)
})
