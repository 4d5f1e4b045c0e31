// A page in a real session tries every way to reach the host, its network and the ports of the instance.
import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { chromium, type Page } from 'playwright-core'
import { client84 } from '../client/versions.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { startSite } from '../fixtures/site.ts'
import { turnOf } from '../tiers.ts'
import { ownAddresses, startCanaries } from './host-canaries.ts'
import { pathsOfRequests, sendEverything } from './page-requests.ts'
import { assertNoFaultLogged } from './server-log.ts'

const owner = { after }
const site = await startSite(owner)
const canaries = await startCanaries(owner)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { ...site.allow, ...canaries.environment },
})
const { browsers } = client84(server)
const session = await browsers.create({ headless: true, timeout_seconds: 600 })
const browser = await chromium.connectOverCDP(session.cdp_ws_url)
cleanUpAfter(owner, () => browser.close())
const context = browser.contexts()[0]!

async function withPage<T>(work: (page: Page) => Promise<T>): Promise<T> {
  const page = await context.newPage()
  try {
    return await work(page)
  } finally {
    await page.close()
  }
}

/** Spellings of loopback. The last three are invalid, but some systems accept them. */
const LOOPBACKS = [
  'localhost', 'LOCALHOST', 'localhost.', 'a.b.localhost', '127.0.0.1', '127.0.1', '127.255.255.254', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001', '127。0。0。1', '①②⑦.0.0.1', '%31%32%37.0.0.1',
  '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '127.0.0.1.', '[::127.0.0.1]',
  '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '0', '0.0.0.0', '[::]',
] // prettier-ignore

/** Names of this machine that resolve to loopback or to its own addresses. */
async function namesOfTheHost(): Promise<string[]> {
  const names = readFileSync('/etc/hosts', 'utf8')
    .split('\n')
    .flatMap((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1))
    .filter((name) => name !== 'localhost')
  const known = await Promise.all(
    names.map((name) =>
      lookup(name).then(
        () => name,
        () => undefined,
      ),
    ),
  )
  return [...new Set(known.filter((name) => name !== undefined))]
}
const names = await namesOfTheHost()

/** Waits until every kind of request has arrived below this path of the site. */
async function assertAllArrive(below = ''): Promise<void> {
  const missing = () => pathsOfRequests.filter((path) => !site.requests.includes(`${below}${path}`))
  await eventually('all requests arrive', () => missing().length === 0, 15_000).catch((error: unknown) => {
    throw new Error(`These requests did not arrive: ${missing().join(' ')}`, { cause: error })
  })
}

test('every kind of request reaches an allowed site', async () => {
  await withPage(async (page) => {
    await page.goto(site.url)
    await page.evaluate(sendEverything([site.url]))
    await assertAllArrive()
  })
})

test('none of them reaches the host under any name', async () => {
  const hosts = ['127.0.0.1', '127.9.9.9', '[::1]', 'host.berth.internal', ...names, ...ownAddresses()]
  const plain = hosts.map((host) => `http://${host}:${canaries.port}`)
  const bases = [...plain, `https://127.0.0.1:${canaries.port}`, 'http://169.254.169.254']
  await withPage(async (page) => {
    await page.goto(site.url)
    // These start last, so when they arrive all others have been tried.
    await page.evaluate(sendEverything([...bases, `${site.url}/last`]))
    await assertAllArrive('/last')
  })
  assert.equal(canaries.touches(), 0)
})

test('no redirect leads to the host or to another scheme', async () => {
  const targets = [
    ...['127.0.0.1', 'host.berth.internal', ...names].map((host) => `http://${host}:${canaries.port}/`),
    'http://169.254.169.254/latest/meta-data/',
    `file://${canaries.file}`,
    `gopher://127.0.0.1:${canaries.port}/`,
    `ftp://127.0.0.1:${canaries.port}/`,
    `view-source:http://127.0.0.1:${canaries.port}/`,
    'chrome://settings',
    'data:text/html,x',
  ]
  await withPage(async (reader) => {
    await reader.goto(`${site.url}/popup`)
    for (const target of targets) {
      const away = `${site.url}/away?to=${target}`
      const top = await withPage(async (page) => {
        await page.goto(away, { timeout: 10_000 }).catch(() => {})
        return page.content().catch(() => '')
      })
      const read = await reader.evaluate(
        `Promise.all([
           fetch(${JSON.stringify(away)}).then((answer) => answer.text(), String),
           new Promise((resolve) => {
             const worker = new Worker(URL.createObjectURL(new Blob([
               'fetch(' + ${JSON.stringify(JSON.stringify(away))} + ').then((a) => a.text(), String).then(postMessage)'])))
             worker.onmessage = (event) => resolve(event.data)
           }),
         ])`,
      )
      // An error page shows the address; that reveals nothing of the file.
      const shown = `${top} ${String(read)}`
      assert.ok(!shown.includes(canaries.secret), `${target}: ${shown}`)
    }
  })
  assert.equal(canaries.touches(), 0)
})

test('pages cannot reach the ports of their instance in any spelling', async () => {
  const [debugging, proxy, arrivals] = [9222, 3128, 3129]
  // Sockets below try every spelling at once; pages take a second each.
  const places = turnOf([...LOOPBACKS, ...names], 0).map((host) => `${host}:${debugging}`)
  const ours = [`127.0.0.1:${proxy}`, `localhost:${proxy}`, `[::1]:${proxy}`, `127.0.0.1:${arrivals}`]
  for (const place of [...places, ...ours]) {
    // A page of its own each: Playwright cannot close one in which several loads failed, in any Chromium over CDP.
    await withPage(async (page) => {
      const response = await page.goto(`http://${place}/json/version`).catch(() => null)
      const shown = `${place} answered ${response?.status()}`
      assert.ok(response === null || response.status() === 403, shown)
      const text = (await response?.text().catch(() => '')) ?? ''
      assert.doesNotMatch(text, /webSocketDebuggerUrl|not a proxy request/, shown)
    })
  }
  await withPage(async (page) => {
    await page.goto(site.url)
    const opened = await page.evaluate(
      `Promise.all(${JSON.stringify(LOOPBACKS)}.flatMap((host) => [${debugging}, ${proxy}, ${arrivals}].map((port) =>
         new Promise((resolve) => {
           try {
             const socket = new WebSocket('ws://' + host + ':' + port + '/devtools/browser/x')
             socket.onopen = () => resolve(host + ':' + port)
             socket.onerror = () => resolve(null)
           } catch { resolve(null) }
         }))))`,
    )
    assert.deepEqual(
      (opened as unknown[]).filter((each) => each !== null),
      [],
    )
  })
})

test('WebRTC contacts no server on the host and finds no address', async () => {
  const servers = ['127.0.0.1', ...ownAddresses(), 'host.berth.internal'].flatMap((host) => [
    { urls: `stun:${host}:${canaries.port}` },
    ...['udp', 'tcp'].map((transport) => ({
      urls: `turn:${host}:${canaries.port}?transport=${transport}`,
      username: 'x',
      credential: 'y',
    })),
  ])
  const candidates = await withPage(async (page) => {
    await page.goto(site.url)
    return page.evaluate(`(async () => {
      const found = []
      const connection = new RTCPeerConnection({ iceServers: ${JSON.stringify(servers)} })
      connection.onicecandidate = ({ candidate }) => candidate?.candidate && found.push(candidate.candidate)
      connection.createDataChannel('x')
      await connection.setLocalDescription(await connection.createOffer())
      await Promise.race([
        new Promise((resolve) => connection.onicegatheringstatechange = () =>
          connection.iceGatheringState === 'complete' && resolve()),
        new Promise((resolve) => setTimeout(resolve, 3000)),
      ])
      connection.close()
      return found
    })()`)
  })
  assert.deepEqual(candidates, [])
  assert.equal(canaries.touches(), 0)
})

test('features of secure pages reach nothing either', async (t) => {
  const targets = ['127.0.0.1', 'localhost', ...ownAddresses()].map(
    (host) => `https://${host}:${canaries.port}`,
  )
  const worker = `${JSON.stringify(targets)}.forEach((url) => fetch(url, { mode: 'no-cors' }).catch(() => {}))`
  const outcome = await withPage(async (page) => {
    await context.route('https://secure.example/**', (route) =>
      route.request().url().endsWith('.js')
        ? route.fulfill({ contentType: 'text/javascript', body: worker })
        : route.fulfill({ contentType: 'text/html', body: '<title>Secure</title>' }),
    )
    await page.goto('https://secure.example/')
    return page.evaluate(`(async () => {
      const late = (ms) => new Promise((resolve) => setTimeout(resolve, ms, 'late'))
      const transports = await Promise.all(${JSON.stringify(targets)}.map((url) => Promise.race([
        new WebTransport(url).ready.then(() => 'open', () => 'failed'), late(2000)])))
      const registered = await Promise.race([
        navigator.serviceWorker.register('/worker.js').then(() => 'registered', (error) => String(error)), late(2000)])
      return { isSecure: isSecureContext, transports, registered }
    })()`)
  })
  const { isSecure, transports, registered } = outcome as {
    isSecure: boolean
    transports: string[]
    registered: string
  }
  assert.ok(isSecure)
  assert.ok(!transports.includes('open'), transports.join())
  t.diagnostic(`service worker: ${registered}`)
  assert.notEqual(registered, 'late')
  assert.equal(canaries.touches(), 0)
})

test('nothing arrived late, and no request caused a server error', async () => {
  // The instance is gone, so nothing can still arrive.
  await browsers.deleteByID(session.session_id)
  assert.equal(canaries.touches(), 0)
  await fetch(`http://127.0.0.1:${canaries.port}/`)
  assert.equal(canaries.touches(), 1, 'the canary counts')
  assertNoFaultLogged(server)
})
