// Servers with BERTH_DRIVER=kubernetes, as ordinary users, on a real cluster.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { chromium } from 'playwright-core'
import { client84 } from '../client/versions.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { createSession, readSession, send } from '../fixtures/sessions.ts'
import { kubectl } from './cluster.ts'
import { clusterSettings } from './fixture.ts'

const masterKey = Buffer.alloc(32, 7).toString('base64')
const firstKey = 'sk_kubernetes00_abcdefghijklmnopqrstuvwxyz012345'
const LEASE_SECONDS = 20

async function startFleet(t: TestContext, env: Record<string, string> = {}) {
  const database = await newDatabase(t)
  return (changes: Record<string, string> = {}) => {
    const dataDir = tempDir(t)
    return startServer(t, {
      hasRealInstances: true,
      dataDir,
      env: {
        DATABASE_URL: database.url,
        BERTH_MASTER_KEY: masterKey,
        BERTH_API_KEY: firstKey,
        BERTH_LEASE_SECONDS: String(LEASE_SECONDS),
        ...clusterSettings(t),
        BERTH_WARM_HEADLESS: '0',
        BERTH_WARM_HEADFUL: '0',
        BERTH_EMPTY_INSTANCES: '0',
        ...env,
        ...changes,
      },
    })
  }
}

/** The same URL on another server. */
function through(server: TestServer, url: string): string {
  const moved = new URL(url)
  moved.host = new URL(server.url).host
  return moved.href
}

/** To the second, as the cluster keeps times. What an interrupted run left belongs to no server any more. */
const beganAt = Math.floor(Date.now() / 1000) * 1000

/** Of the servers of this file. */
async function podsOf() {
  const { items } = JSON.parse(
    await kubectl('get', 'pods', '--selector', 'app.kubernetes.io/name=berth-instance', '--output', 'json'),
  ) as { items: { metadata: { name: string; creationTimestamp: string; deletionTimestamp?: string } }[] }
  return items.filter(
    ({ metadata }) =>
      metadata.deletionTimestamp === undefined && Date.parse(metadata.creationTimestamp) >= beganAt,
  )
}

test(
  'the published client has its sessions in Pods: pages, programs, files, a screen',
  { timeout: 300_000 },
  async (t) => {
    const start = await startFleet(t, { BERTH_WARM_HEADLESS: '1' })
    const server = await start()
    const client = client84(server)
    const session = await client.browsers.create({ headless: true, timeout_seconds: 300 })
    const browser = await chromium.connectOverCDP(session.cdp_ws_url)
    const page = browser.contexts()[0]!.pages()[0]!
    assert.equal(await page.evaluate('6 * 7'), 42)
    const executed = await send<{ exit_code: number }>(
      server,
      'POST',
      `/browsers/${session.session_id}/process/exec`,
      {
        command: 'id',
      },
    )
    assert.equal(executed.body.exit_code, 0)
    const screenshot = await server.fetch(`/browsers/${session.session_id}/computer/screenshot`, {
      method: 'POST',
    })
    assert.equal(screenshot.status, 200)
    await browser.close()
    const headful = await client.browsers.create({ headless: false, timeout_seconds: 300 })
    assert.ok(headful.browser_live_view_url)
    const shot = await server.fetch(`/browsers/${headful.session_id}/computer/screenshot`, { method: 'POST' })
    assert.equal(shot.status, 200)
    await client.browsers.deleteByID(headful.session_id)
    await client.browsers.deleteByID(session.session_id)
    const standby = await send(server, 'POST', '/browsers', { headless: true, standby_after_seconds: 5 })
    assert.equal(standby.status, 400)
    assert.match(
      standby.body.message!,
      /standby_after_seconds: is not available: .* no helper that freezes them/,
    )
    await server.stop()
    await eventually('no Pod is left', async () => (await podsOf()).length === 0, 30_000)
  },
)

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(
    `the sessions of a server that ends with ${signal} go on at another`,
    { timeout: 300_000 },
    async (t) => {
      const start = await startFleet(t)
      const [owner, other] = await Promise.all([start(), start()])
      const session = await createSession(owner)
      const before = await chromium.connectOverCDP(session.cdp_ws_url)
      await before.contexts()[0]!.pages()[0]!.evaluate('window.kept = "kept"')
      const endedAt = performance.now()
      await owner.stop(signal)
      const url = through(other, session.cdp_ws_url)
      const connected = await eventuallyGet(() => chromium.connectOverCDP(url), LEASE_SECONDS * 1000)
      t.diagnostic(`back after ${((performance.now() - endedAt) / 1000).toFixed(1)} s`)
      const page = connected.contexts()[0]!.pages()[0]!
      assert.equal(await page.evaluate('window.kept'), 'kept')
      await connected.close()
      // Longer than a lease: somebody renews it.
      await new Promise((resolve) => setTimeout(resolve, (LEASE_SECONDS + 5) * 1000))
      const { status, body } = await send<{ stdout_b64: string }>(
        other,
        'POST',
        `/browsers/${session.session_id}/process/exec`,
        { command: 'echo', args: ['alive'] },
      )
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal((await send(other, 'DELETE', `/browsers/${session.session_id}`)).status, 204)
      await eventually('no Pod is left', async () => (await podsOf()).length === 0, 30_000)
    },
  )
}

test(
  'a full cluster answers 529 with the reason, and keeps no row and no Pod',
  { timeout: 120_000 },
  async (t) => {
    const start = await startFleet(t, {
      BERTH_SESSION_MEMORY_MB: '900000',
      BERTH_KUBERNETES_MEMORY_PERCENT: '100',
      BERTH_KUBERNETES_FULL_SECONDS: '2',
    })
    const server = await start()
    const { status, body, headers } = await send(server, 'POST', '/browsers', { headless: true })
    assert.equal(status, 529, JSON.stringify(body))
    assert.match(body.message!, /no room: .*Insufficient memory/)
    assert.ok(headers.get('retry-after'))
    assert.deepEqual((await send<unknown[]>(server, 'GET', '/browsers')).body, [])
    await eventually('no Pod is left', async () => (await podsOf()).length === 0, 30_000)
  },
)

test('a session whose Pod is deleted ends as lost', { timeout: 120_000 }, async (t) => {
  const start = await startFleet(t)
  const server = await start()
  const session = await createSession(server)
  const [pod] = await podsOf()
  await kubectl('delete', 'pod', pod!.metadata.name, '--wait=false', '--grace-period=0', '--force')
  await eventually(
    'the session ends',
    async () => (await readSession(server, session.session_id)).deleted_at !== undefined,
    20_000,
  )
  assert.equal((await readSession(server, session.session_id)).end_reason, 'lost')
})

async function eventuallyGet<T>(attempt: () => Promise<T>, withinMs: number): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}
