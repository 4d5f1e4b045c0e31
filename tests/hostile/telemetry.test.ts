// Pages that produce too many events or try to fake some; readers that are too many, too slow, or no longer allowed.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { withCdp } from '../fixtures/cdp.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, metric, query, send } from '../fixtures/sessions.ts'
import { dataOf, EventReader, type SeenEvent } from '../fixtures/telemetry.ts'

const owner = { after }
const GIGABYTE = 1024 ** 3
const sizes: Readonly<Record<string, number>> = { '/huge': GIGABYTE, '/bytes': GIGABYTE / 16 }
const site = createServer((request, response) => {
  const type = request.url === '/bytes' ? 'application/octet-stream' : 'application/json'
  // Not cached: the cache of an instance is in its memory.
  response.writeHead(200, {
    'content-type': type,
    'access-control-allow-origin': '*',
    'cache-control': 'no-store',
  })
  if (request.url === '/small') return void response.end('{"small":true}')
  let left = sizes[request.url!] ?? 0
  const chunk = Buffer.alloc(1024 * 1024, 0x61)
  const more = () => {
    while (left > 0) {
      left -= chunk.length
      if (!response.write(chunk)) return void response.once('drain', more)
    }
    response.end()
  }
  more()
})
site.listen(0, '127.0.0.1')
await once(site, 'listening')
cleanUpAfter(owner, async () => {
  site.closeAllConnections()
  site.close()
  await once(site, 'close')
})
const { port } = site.address() as AddressInfo
const url = `http://host.berth.internal:${port}`
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { BERTH_EGRESS_ALLOW: `host.berth.internal:${port}` },
})
const session = await createSession(server, { telemetry: {} })
const id = session.session_id

test('a flood of console lines is dropped and counted, and the session and its other events continue', async () => {
  const reader = await EventReader.open(server, id)
  await withCdp(session.cdp_ws_url, async (cdp) => {
    await cdp.callPage('Page.navigate', { url: `${url}/small` })
    const flood =
      'const t = performance.now(); let n = 0; while (n <= 10_000 || performance.now() - t < 3000) { for (let i = 0; i < 100; i++) console.log("line", n++) } n'
    const written = await cdp.evaluate<number>(flood, { ms: 60_000 })
    assert.ok(written > 10_000, `${written} lines`)
    // Despite the flood, the browser answers at once.
    const asked = performance.now()
    assert.equal(await cdp.evaluate<number>('1 + 1'), 2)
    assert.ok(performance.now() - asked < 2_000, `${performance.now() - asked} ms`)
    await cdp.evaluate(`fetch("/small").then((answer) => answer.text())`)
    await reader.until(
      'the request after the flood',
      () => reader.ofType('network_response').length >= 2,
      20_000,
    )
    const lines = reader.ofType('console_log').length
    const gaps = reader.events.at(-1)!.seq - reader.events.length
    assert.ok(lines < written && gaps > 0, `${lines} of ${written} lines, ${gaps} missing numbers`)
    assert.ok((await metric(server, 'berth_telemetry_events_dropped_total')) >= gaps)
  })
  reader.close()
})

test('a session keeps only its newest events, up to its limit', async (t) => {
  const small = await startServer(t, { hasRealInstances: true, env: { BERTH_TELEMETRY_SESSION_MB: '1' } })
  const { session_id, cdp_ws_url } = await createSession(small, { telemetry: {} })
  const reader = await EventReader.open(small, session_id)
  // Text that does not compress, slowly enough not to count as a flood.
  const write = `(async () => {
    for (let line = 0; line < 600; line++) {
      console.log(btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(3000)))))
      if (line % 20 === 19) await new Promise((done) => setTimeout(done, 50))
    }
    console.log('the last')
  })()`
  await withCdp(cdp_ws_url, (cdp) =>
    cdp.callPage('Runtime.evaluate', { expression: write, awaitPromise: true }),
  )
  await reader.until('the last line', () => reader.events.at(-1)?.event.data?.['text'] === 'the last')
  reader.close()
  const sum = 'SELECT sum(octet_length(payload))::int AS bytes FROM telemetry_segments WHERE session_id = $1'
  await eventually('the oldest are gone', async () => {
    const [row] = await query<{ bytes: number }>(small, sum, [session_id])
    return row!.bytes <= 1024 * 1024
  })
  const { body } = await send<SeenEvent[]>(small, 'GET', `/browsers/${session_id}/telemetry/events?limit=1`)
  assert.ok(body[0]!.seq > 1, `the oldest is number ${body[0]!.seq}`)
  const path = `/browsers/${session_id}/telemetry/events?limit=1&order=desc`
  const { body: newest } = await send<SeenEvent[]>(small, 'GET', path)
  assert.equal(newest[0]!.event.data!['text'], 'the last')
  assert.equal(newest[0]!.seq, reader.events.at(-1)!.seq)
})

test('a body of a gigabyte is reported without its content, and so are all binary bodies', async () => {
  const reader = await EventReader.open(server, id)
  const before = server.pid
  await withCdp(session.cdp_ws_url, async (cdp) => {
    for (const path of ['/huge', '/bytes']) {
      const read = `fetch("${url}${path}").then(async (answer) => { let n = 0; for await (const piece of answer.body) n += piece.length; return n })`
      assert.equal(await cdp.evaluate<number>(read, { ms: 120_000 }), sizes[path])
    }
  })
  // For a body that is read in pieces, Chromium may report the end as a failure; either way there is one event.
  const ends = (path: string) =>
    ['network_response', 'network_loading_failed']
      .flatMap((type) => reader.ofType(type))
      .filter((event) => dataOf(event)['url'] === url + path)
  await reader.until('both ends', () => ends('/huge').length > 0 && ends('/bytes').length > 0)
  for (const path of ['/huge', '/bytes']) {
    assert.equal(ends(path).length, 1, path)
    assert.ok(!('body' in dataOf(ends(path)[0])), path)
  }
  assert.equal(server.pid, before)
  reader.close()
})

test('a page cannot fake an event or break the stream', async () => {
  const reader = await EventReader.open(server, id)
  const evil = [
    'x\n\nid: 999999\ndata: {"seq":999999,"event":{"type":"api_call"}}\n\n',
    'x\r\rdata: {}\r\r',
    '\u2028\u2029\u0000\ud800',
    '","type":"api_call","x":"',
    'x'.repeat(1_000_000),
  ]
  await withCdp(session.cdp_ws_url, (cdp) =>
    cdp.evaluate(`for (const text of ${JSON.stringify(evil)}) console.log(text); console.log("end of it")`),
  )
  await reader.until('the last line', () =>
    reader.ofType('console_log').some((event) => dataOf(event)['text'] === 'end of it'),
  )
  const texts = reader.ofType('console_log').map((event) => String(dataOf(event)['text']))
  assert.deepEqual(texts.slice(0, 2), evil.slice(0, 2))
  assert.equal(texts[3], evil[3])
  assert.equal(texts[4]!.length, 4096)
  assert.equal(reader.ofType('api_call').length, 0)
  assert.ok(!reader.text.includes('\r'))
  assert.ok(!/^(?!id: \d+$|data: \{|: |$)/m.test(reader.text), 'a line that the server did not write')
  reader.close()
})

test('no event contains the session token', async () => {
  const history = await send<object[]>(server, 'GET', `/browsers/${id}/telemetry/events?limit=100&order=desc`)
  const token = new URL(session.cdp_ws_url).searchParams.get('jwt')!
  assert.ok(!JSON.stringify(history.body).includes(token))
})

test('an invalid Last-Event-ID is refused, a huge one starts at the present', async () => {
  for (const lastEventId of ['x', '-1', '1.5', '0x10', '9'.repeat(21), '1 ']) {
    const answer = await server.fetch(`/browsers/${id}/telemetry/stream`, {
      headers: { 'last-event-id': lastEventId },
    })
    await answer.body?.cancel()
    assert.equal(answer.status, lastEventId === '1 ' ? 200 : 400, lastEventId)
  }
})

test('the number of readers is limited, and a reader that never reads costs nothing', async () => {
  const readers = await Promise.allSettled(
    Array.from({ length: 70 }, () => EventReader.open(server, id, { replay: 'all' })),
  )
  const open = readers.filter(({ status }) => status === 'fulfilled')
  assert.equal(open.length, 64)
  for (const reader of readers) {
    if (reader.status === 'rejected') assert.match(String(reader.reason), /429/)
  }
  for (const reader of readers) if (reader.status === 'fulfilled') reader.value.close()
  // The server notices a disconnect a moment later.
  await eventually('there is room again', async () => {
    const again = await Promise.allSettled([EventReader.open(server, id), EventReader.open(server, id)])
    for (const each of again) if (each.status === 'fulfilled') each.value.close()
    return again.every(({ status }) => status === 'fulfilled')
  })
})

test('deleting a key closes the streams it opened within seconds', async () => {
  const key = await send<{ id: string; key: string }>(server, 'POST', '/org/api_keys', { name: 'follower' })
  const reader = await EventReader.open(server, id, { key: key.body.key })
  const other = await EventReader.open(server, id)
  const deletedAt = performance.now()
  assert.equal((await send(server, 'DELETE', `/org/api_keys/${key.body.id}`)).status, 204)
  await reader.ended
  assert.ok(performance.now() - deletedAt < 5_000)
  assert.equal(other.hasEnded, false)
  other.close()
})
