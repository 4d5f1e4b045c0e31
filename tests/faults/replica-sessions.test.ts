// A session on one server of a fleet, used through another.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { chromium } from 'playwright-core'
import { WebSocket } from 'ws'
import { client84 } from '../client/versions.ts'
import { jpegSize } from '@berth/codecs/video/jpeg-size'
import { PreviewReader } from '../fixtures/previews.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { startServer, type ServerOptions, type TestServer } from '../fixtures/server.ts'

const masterKey = Buffer.alloc(32, 7).toString('base64')
const firstKey = 'sk_replica00000_abcdefghijklmnopqrstuvwxyz012345'

async function startFleet(t: TestContext) {
  const database = await newDatabase(t)
  const start = (options: ServerOptions = {}) =>
    startServer(t, {
      hasRealInstances: true,
      ...options,
      env: {
        DATABASE_URL: database.url,
        BERTH_MASTER_KEY: masterKey,
        BERTH_API_KEY: firstKey,
        BERTH_LEASE_SECONDS: '10',
        ...options.env,
      },
    })
  const [owner, other] = await Promise.all([start(), start()])
  return { owner, other, start }
}

/** The same URL on another server. */
function through(server: TestServer, url: string): string {
  const moved = new URL(url)
  moved.host = new URL(server.url).host
  return moved.href
}

async function open(url: string): Promise<{ socket: WebSocket; closed: Promise<[number, string]> }> {
  const socket = new WebSocket(url)
  await once(socket, 'open')
  const closed = new Promise<[number, string]>((resolve) => {
    socket.once('close', (code, reason) => resolve([code, String(reason)]))
  })
  return { socket, closed }
}

test('any server serves a session: CDP, BiDi, discovery, a new viewport and its end', async (t) => {
  const { owner, other } = await startFleet(t)
  const session = await client84(owner).browsers.create({ headless: true, timeout_seconds: 300 })
  const seen = await client84(other).browsers.retrieve(session.session_id)

  for (const url of [seen.cdp_ws_url, seen.cdp_ws_url.replace(/^ws/, 'http')]) {
    const browser = await chromium.connectOverCDP(url)
    const page = browser.contexts()[0]!.pages()[0]!
    assert.equal(await page.evaluate('1 + 1'), 2)
    const length = 5 * 1024 * 1024
    assert.equal((await page.evaluate<string>(`"x".repeat(${length})`)).length, length)
    await browser.close()
  }

  const changed = await client84(other).browsers.update(session.session_id, {
    viewport: { width: 1024, height: 768 },
  })
  assert.equal(changed.viewport!.width, 1024)
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  assert.equal(await browser.contexts()[0]!.pages()[0]!.evaluate('window.innerWidth'), 1024)
  await browser.close()

  const bidi = await open(seen.webdriver_ws_url)
  bidi.socket.send(JSON.stringify({ id: 1, method: 'session.status', params: {} }))
  const [answer] = (await once(bidi.socket, 'message')) as [Buffer]
  assert.equal((JSON.parse(answer.toString()) as { type: string }).type, 'success')

  const cdp = await open(seen.cdp_ws_url)
  await client84(other).browsers.deleteByID(session.session_id)
  assert.deepEqual(await cdp.closed, [4000, 'session deleted'])
  assert.deepEqual(await bidi.closed, [4000, 'session deleted'])
})

test('when the owner is killed and returns, clients of the other server reconnect', async (t) => {
  const { owner, other, start } = await startFleet(t)
  const session = await client84(owner).browsers.create({ headless: true, timeout_seconds: 300 })
  const url = through(other, session.cdp_ws_url)
  const first = await chromium.connectOverCDP(url)
  await first.contexts()[0]!.pages()[0]!.evaluate('globalThis.kept = 42')
  const disconnected = new Promise((resolve) => first.once('disconnected', resolve))
  await owner.stop('SIGKILL')
  await disconnected

  const refused = new WebSocket(url)
  refused.on('error', () => {})
  const [, response] = (await once(refused, 'unexpected-response')) as [unknown, { statusCode: number }]
  assert.equal(response.statusCode, 503)
  refused.terminate()
  const update = await other.fetch(`/browsers/${session.session_id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ viewport: { width: 800, height: 600 } }),
  })
  assert.equal(update.status, 503)

  await start({ dataDir: owner.dataDir })
  const again = await chromium.connectOverCDP(url)
  assert.equal(await again.contexts()[0]!.pages()[0]!.evaluate('globalThis.kept'), 42)
  await again.close()
})

test('a client on another server keeps the session from timing out, and is told when it ends', async (t) => {
  const { owner, other } = await startFleet(t)
  const session = await client84(owner).browsers.create({ headless: true, timeout_seconds: 10 })
  const { socket, closed } = await open(through(other, session.cdp_ws_url))
  const wanted = performance.now() + 11_500
  // Only sessions with that setting go on standby under an open client; this one must always answer.
  while (performance.now() < wanted) {
    socket.send(JSON.stringify({ id: 1, method: 'Browser.getVersion' }))
    await once(socket, 'message')
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  await owner.stop('SIGINT')
  assert.deepEqual(await closed, [1001, 'server stopping'])
})

test('small pictures of a session come through another server, which neither wakes nor holds it', async (t) => {
  const { owner, other } = await startFleet(t)
  const session = await client84(owner).browsers.create({ headless: true, timeout_seconds: 20 })
  const began = performance.now()
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  const reader = await PreviewReader.open(t, other, { ids: session.session_id })
  const { data } = await reader.until('picture', ({ state }) => state === 'picture')
  assert.ok(jpegSize(Buffer.from(data!, 'base64')))
  await browser.contexts()[0]!.pages()[0]!.evaluate('document.documentElement.style.background = "red"')
  const count = reader.events.length
  await reader.until('another picture', ({ state }) => state === 'picture', { from: count })
  await browser.close()
  const closedAt = performance.now()
  await reader.until('standby', ({ state }) => state === 'standby')
  assert.ok(performance.now() - closedAt < 5_000 + 6_000)
  const end = await reader.until('end', ({ state }) => state === 'ended', { timeoutMs: 40_000 })
  assert.equal(end.id, session.session_id)
  assert.ok(performance.now() - began < 20_000 + 20_000, 'watching does not delay the timeout')
  const ended = await client84(owner).browsers.retrieve(session.session_id, { include_deleted: true })
  assert.equal((ended as { end_reason?: string }).end_reason, 'timed_out')
})

test('a tunnel accepts only servers', async (t) => {
  const server = await startServer(t)
  const session = await client84(server).browsers.create({ headless: true })
  const token = new URL(session.cdp_ws_url).searchParams.get('jwt')!
  for (const authorization of ['', `Bearer ${server.key}`, `Bearer ${token}`]) {
    for (const purpose of ['api', 'cdp', 'bidi', 'playwright', 'aside', 'other']) {
      const socket = new WebSocket(`${server.url.replace(/^http/, 'ws')}/internal/link/${purpose}`, {
        headers: authorization ? { authorization } : {},
      })
      socket.on('error', () => {})
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }]
      assert.equal(response.statusCode, purpose === 'other' ? 404 : 401)
      socket.terminate()
    }
  }
})
