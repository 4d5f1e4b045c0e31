// Abusive viewers: too many viewers, floods of messages, invalid messages, and viewers that never read.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { WebSocket } from 'ws'
import { CdpClient } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { pointerMessage, RfbClient, screenUrl } from '../fixtures/rfb.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession } from '../fixtures/sessions.ts'
import { assertNoFaultLogged } from './server-log.ts'

const MAX_VIEWERS = 20
const SIZE = { width: 1024, height: 768 }

const server = await startServer(
  { after },
  { hasRealInstances: true, env: { BERTH_LOG_LEVEL: 'debug', BERTH_MAX_VIEWERS: String(MAX_VIEWERS) } },
)
const session = await createSession(server, { headless: false, kiosk_mode: true, viewport: SIZE })
const url = session.browser_live_view_url!
const screen = screenUrl(url)
const page = await CdpClient.open(session.cdp_ws_url)
after(() => page.terminate())
await page.evaluate(`(() => {
  document.body.innerHTML = '<style>html { height: 100% }</style>'
  window.moves = 0
  window.clicks = []
  addEventListener('mousemove', () => window.moves++)
  addEventListener('click', ({ clientX, clientY }) => window.clicks.push([clientX, clientY]))
})()`)

async function assertServes(): Promise<void> {
  const viewer = await RfbClient.overWebSocket(screen)
  await eventually('a viewer sees', () => viewer.updates > 0)
  await viewer.close()
}

async function openSocket(): Promise<WebSocket> {
  const socket = new WebSocket(screen, { perMessageDeflate: false })
  await once(socket, 'open')
  socket.on('error', () => {})
  return socket
}

const rssOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])

test('only the allowed number of a hundred viewers connects, and others connect when those leave', async () => {
  const tried = await Promise.allSettled(Array.from({ length: 100 }, () => RfbClient.overWebSocket(screen)))
  const inside = tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  after(() => Promise.all(inside.map((viewer) => viewer.close())))
  assert.equal(inside.length, MAX_VIEWERS)
  for (const one of tried) {
    if (one.status === 'rejected') assert.equal((one.reason as { status: number }).status, 429)
  }
  const answer = await fetch(url, { headers: { accept: 'application/json' } })
  assert.equal(answer.status, 429)
  assert.ok(answer.headers.get('retry-after'))
  await Promise.all(inside.map((viewer) => viewer.close()))
  await eventually('they are counted out', async () => {
    return (await fetch(url, { headers: { accept: 'application/json' } })).status === 200
  })
  await assertServes()
})

test('a hundred thousand mouse moves in a second are merged into a few, and the last one counts', async () => {
  const viewer = await RfbClient.overWebSocket(screen)
  await eventually('it sees', () => viewer.updates > 0)
  const burst = Buffer.concat(
    Array.from({ length: 1_000 }, (_none, index) => pointerMessage(10 + (index % 900), 20, 0)),
  )
  const slowest: number[] = []
  const startedAt = performance.now()
  for (let count = 0; count < 100; count++) {
    viewer.send(burst)
    if (count % 10 > 0) continue
    const askedAt = performance.now()
    assert.equal((await server.fetch('/health')).status, 200)
    slowest.push(performance.now() - askedAt)
  }
  viewer.click(321, 123)
  await eventually('the click is seen', async () => (await page.evaluate<number[][]>('clicks')).length === 1)
  const seconds = (performance.now() - startedAt) / 1000
  assert.deepEqual(await page.evaluate('clicks'), [[321, 123]])
  const moves = await page.evaluate<number>('moves')
  assert.ok(moves < 150 * Math.max(1, seconds) + 100, `${moves} moves in ${seconds.toFixed(1)} s`)
  assert.ok(Math.max(...slowest) < 1_000, `the server took ${Math.max(...slowest)} ms to answer`)
  await viewer.close()
})

test('a flood of clicks is throttled, and ends with its viewer', async () => {
  const viewer = await RfbClient.overWebSocket(screen)
  await page.evaluate('clicks.length = 0')
  const clicks = Buffer.concat(
    Array.from({ length: 10_000 }, (_none, index) => pointerMessage(50, 50, index % 2)),
  )
  viewer.send(clicks)
  await assertServes()
  await viewer.close()
  await assertServes()
  await page.evaluate('clicks.length = 0')
})

test('an invalid viewer gets an error and is disconnected', async () => {
  const cases: [string, (socket: WebSocket) => void, number][] = [
    ['text', (socket) => socket.send('RFB 003.008\n'), 1003],
    ['another version', (socket) => socket.send(Buffer.from('RFB 003.003\n')), 1008],
    ['HTTP', (socket) => socket.send(Buffer.from('GET / HTTP/1.1\r\n\r\n')), 1008],
    ['passwords', (socket) => socket.send(Buffer.from('RFB 003.008\n\x02')), 1008],
    ['an unknown message', (socket) => socket.send(Buffer.from('RFB 003.008\n\x01\x01\x63')), 1008],
    [
      'a clipboard of 2 GB',
      (socket) => socket.send(Buffer.from('RFB 003.008\n\x01\x01\x06\0\0\0\x7f\xff\xff\xff', 'latin1')),
      1008,
    ],
    [
      '65535 encodings',
      (socket) => socket.send(Buffer.from('RFB 003.008\n\x01\x01\x02\0\xff\xff', 'latin1')),
      1008,
    ],
    ['its end', (socket) => socket.close(1000), 1000],
  ]
  for (const [what, say, code] of cases) {
    const socket = await openSocket()
    const closed = new Promise<number>((resolve) => socket.once('close', resolve))
    say(socket)
    assert.equal(await closed, code, what)
  }
  await assertServes()
})

test('a viewer that never reads neither blocks others nor fills memory', async () => {
  const lazy = await openSocket()
  const opening = ['RFB 003.008\n', '\x01', '\x01', '\x02\0\0\x02\0\0\0\0\xff\xff\xfe\xc7']
  for (const part of opening) lazy.send(Buffer.from(part, 'latin1'))
  lazy.pause()
  const request = Buffer.from([3, 0, 0, 0, 0, 0, 4, 0, 3, 0])
  const before = rssOf(server.pid)
  await page.evaluate(`(() => {
    let step = 0
    window.timer = setInterval(() => { document.documentElement.style.background = 'hsl(' + (step += 7) + ' 80% 50%)' }, 20)
  })()`)
  const other = await RfbClient.overWebSocket(screen)
  await eventually('the other sees', () => other.updates > 5)
  // Hundreds of raw pictures of three megabytes each.
  for (let count = 0; count < 300; count++) lazy.send(request)
  const seen = other.updates
  await eventually('the other sees on', () => other.updates > seen + 50)
  const grown = (rssOf(server.pid) - before) / 1024
  assert.ok(grown < 64, `the server has grown by ${grown.toFixed(0)} MB`)
  await page.evaluate('clearInterval(timer)')
  lazy.terminate()
  await other.close()
  await assertServes()
})

const post = (address: string, origin?: string) =>
  fetch(address, { method: 'POST', body: 'x', headers: origin ? { origin } : {} })

test('a page of another origin cannot upload, and nobody can without a token', async () => {
  const files = url.replace('/live?', '/live/files?name=x&')
  assert.equal((await post(files, 'https://evil.example')).status, 403)
  assert.equal((await post(files, 'null')).status, 403)
  assert.equal((await post(files.replace(/jwt=.*/, ''))).status, 401)
  assert.equal(
    (await post(files.replace(/jwt=.*/, `jwt=${new URL(session.cdp_ws_url).searchParams.get('jwt')}`)))
      .status,
    401,
  )
  const hostile = await post(
    files.replace('name=x', `name=${encodeURIComponent('../../../etc/\0passwd')}`),
    server.url,
  )
  assert.equal(hostile.status, 201)
  assert.deepEqual(await hostile.json(), { path: '/home/kernel/Downloads/.._.._.._etc_passwd' })
})

test('no token is in the log, and no request caused a server error', () => {
  assert.ok(!server.output().includes(new URL(url).searchParams.get('jwt')!.split('.')[2]!))
  assertNoFaultLogged(server)
})
