// Events survive kills of the server and crashes of the browser, and are the same on several servers.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { startServer, type ServerOptions } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { dataOf, EventReader } from '../fixtures/telemetry.ts'

const hasRealInstances = true
const on = { enabled: true }
const telemetry = { enabled: true, browser: { console: on, page: on } }

const linesOf = ({ events }: Pick<EventReader, 'events'>) =>
  events.filter(({ event }) => event.type === 'console_log').map(({ event }) => String(dataOf(event)['text']))

test('kill -9 of the server loses and repeats no event, and Last-Event-ID continues where it stopped', async (t) => {
  const first = await startServer(t, { hasRealInstances })
  const BERTH_PORT = new URL(first.url).port
  const session = await createSession(first, { telemetry })
  const reader = await EventReader.open(first, session.session_id)
  // The page continues without a server; every line has a number.
  await withCdp(session.cdp_ws_url, (cdp) =>
    cdp.evaluate(
      'globalThis.count = 0; setInterval(() => { if (count < 400) console.log(String(count++)) }, 10); 0',
    ),
  )
  await reader.until('some lines', () => linesOf(reader).length > 50)
  await first.stop('SIGKILL')
  await reader.ended

  const second = await startServer(t, { hasRealInstances, env: { BERTH_PORT }, dataDir: first.dataDir })
  const resumed = await EventReader.open(second, session.session_id, {
    lastEventId: reader.events.at(-1)!.seq,
  })
  await resumed.until('the last line', () => linesOf(resumed).at(-1) === '399', 20_000)
  const lines = [...linesOf(reader), ...linesOf(resumed)]
  assert.deepEqual(
    lines,
    Array.from({ length: 400 }, (_, index) => String(index)),
  )
  const numbers = [...reader.events, ...resumed.events].map(({ seq }) => seq)
  assert.deepEqual(
    numbers,
    numbers.map((_seq, index) => index + 1),
  )
  const replayed = await EventReader.open(second, session.session_id, { replay: 'all' })
  await replayed.until('all of them', () => replayed.events.length >= numbers.length)
  assert.deepEqual(
    replayed.events.slice(0, reader.events.length),
    reader.events,
    'earlier events are unchanged',
  )
  await send(second, 'DELETE', `/browsers/${session.session_id}`)
  await resumed.ended
})

test('telemetry continues after Chromium crashes, and after the next crash', async (t) => {
  const server = await startServer(t, { hasRealInstances })
  const session = await createSession(server, { telemetry })
  const reader = await EventReader.open(server, session.session_id)
  const cdp = await CdpClient.open(session.cdp_ws_url)
  await cdp.evaluate('console.log("before")')
  await reader.until('the first line', () => linesOf(reader).length === 1)
  await cdp.call('Browser.crash').catch(() => {})
  await cdp.closed()
  await reader.until('it is back', () => reader.ofType('monitor_reconnected').length === 1)
  await withCdp(session.cdp_ws_url, (next) => next.evaluate('console.log("after")'))
  await reader.until('the second line', () => linesOf(reader).length === 2)
  assert.deepEqual(linesOf(reader), ['before', 'after'])
  const types = reader.events.map(({ event }) => event.type)
  assert.ok(types.indexOf('monitor_disconnected') < types.indexOf('monitor_reconnected'))
  assert.equal(dataOf(reader.ofType('monitor_disconnected')[0])['reason'], 'chrome_restarted')
  assert.ok(Number(dataOf(reader.ofType('monitor_reconnected')[0])['reconnect_duration_ms']) > 0)
  const [crash] = reader.ofType('service_crashed').map(dataOf)
  assert.equal(crash!['service_name'], 'chromium')
  assert.equal(crash!['phase'], 'running')
  const [gone] = reader.ofType('cdp_disconnect').map(dataOf)
  assert.equal(gone!['reason'], 'upstream_changed')
  await send(server, 'DELETE', `/browsers/${session.session_id}`)
  await reader.ended
})

const masterKey = Buffer.alloc(32, 7).toString('base64')
const firstKey = 'sk_replica00000_abcdefghijklmnopqrstuvwxyz012345'

async function startFleet(t: TestContext) {
  const database = await newDatabase(t)
  const env = { DATABASE_URL: database.url, BERTH_MASTER_KEY: masterKey, BERTH_API_KEY: firstKey }
  const start = (options: ServerOptions = {}) => startServer(t, { hasRealInstances, ...options, env })
  return Promise.all([start(), start()])
}

test('any server of a fleet streams the same events, accepts changes, and adds its own events', async (t) => {
  const [owner, other] = await startFleet(t)
  const session = await createSession(owner, { telemetry, timeout_seconds: 10 })
  const id = session.session_id
  const here = await EventReader.open(owner, id)
  const there = await EventReader.open(other, id)
  await send(other, 'GET', `/browsers/${id}/fs/file_info?path=/`)
  const url = new URL(session.cdp_ws_url)
  url.host = new URL(other.url).host
  await withCdp(url.href, (cdp) => cdp.evaluate('console.log("through the other")'))
  await there.until('the end of the connection', () => there.ofType('cdp_disconnect').length === 1)
  await here.until('the same', () => here.events.length >= there.events.length)
  assert.deepEqual(here.events, there.events)
  assert.deepEqual(linesOf(there), ['through the other'])
  assert.deepEqual(
    there.ofType('api_call').map((event) => dataOf(event)['operation_id']),
    ['fileInfo'],
  )

  const changed = await send<{ telemetry: { browser: Record<string, object> } }>(
    other,
    'PATCH',
    `/browsers/${id}`,
    {
      telemetry: { browser: { console: { enabled: false } } },
    },
  )
  assert.deepEqual(changed.body.telemetry.browser['console'], { enabled: false })
  await withCdp(session.cdp_ws_url, (cdp) =>
    cdp.evaluate('console.log("unheard"); location.hash = "x"; location.href = "about:blank"'),
  )
  here.close()
  // An open stream on any server counts as activity of the session.
  await new Promise((resolve) => setTimeout(resolve, 11_000))
  assert.equal((await send(other, 'GET', `/browsers/${id}`)).status, 200)
  assert.deepEqual(linesOf(there), ['through the other'])
  await send(other, 'DELETE', `/browsers/${id}`)
  await there.ended
  const history = await send<object[]>(other, 'GET', `/browsers/${id}/telemetry/events?limit=100`)
  assert.deepEqual(history.body, there.events)
})
