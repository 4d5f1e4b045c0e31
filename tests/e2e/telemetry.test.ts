// The events of a session, compared with what the site and the script know. Stock Playwright drives the browser at
// the same time.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { chromium, type Page } from 'playwright-core'
import { client55, client70, client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'
import { ApiDocument } from '../fuzz/document.ts'
import { Judge } from '../fuzz/judge.ts'
import { dataOf, EventReader, type SeenEvent } from '../fixtures/telemetry.ts'
import { LONG_JSON, LONG_TEXT, startTelemetrySite } from '../fixtures/telemetry-site.ts'

const owner = { after }
const site = await startTelemetrySite(owner)
const server = await startServer(owner, { hasRealInstances: true, env: site.allow })
const { browsers } = client84(server)
const all = {
  console: { enabled: true },
  network: { enabled: true },
  page: { enabled: true },
  interaction: { enabled: true },
}
const session = await browsers.create({ headless: true, timeout_seconds: 300, telemetry: { browser: all } })
const id = session.session_id
const reader = await EventReader.open(server, id)
const browser = await chromium.connectOverCDP(session.cdp_ws_url)
after(() => browser.close())
const page = browser.contexts()[0]!.pages()[0]!

const isDone = (each: Page, title: string) =>
  each.waitForFunction(`document.title === ${JSON.stringify(title)}`)
const sorted = (texts: readonly string[]) => texts.toSorted((one, other) => (one < other ? -1 : 1))
const urlsOf = (type: string) => reader.ofType(type).map((event) => String(dataOf(event)['url']))
const asked = () =>
  reader
    .ofType('network_request')
    .map((event) => `${String(dataOf(event)['method'])} ${String(dataOf(event)['url'])}`)

test('every request of a page, its frames, workers, sockets and popups has an event, as the site saw it', async () => {
  await page.goto(site.url)
  await isDone(page, 'Done')
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('#popup')])
  await isDone(popup, 'Popped')
  await popup.close()
  await reader.until('all requests are told', () => asked().length >= site.requests.length)
  assert.ok(site.requests.length > 50, `${site.requests.length} requests`)
  assert.deepEqual(sorted(asked()), sorted(site.requests))

  // Each has one end: an answer, or the reason for its failure. If the page does not read a body, the end comes when
  // no more data arrives.
  const ends = () => [...urlsOf('network_response'), ...urlsOf('network_loading_failed')]
  await reader.until('all ends are told', () => ends().length >= site.requests.length).catch(() => {})
  assert.deepEqual(sorted(ends()), sorted(site.requests.map((request) => request.split(' ')[1]!)))
  assert.deepEqual(urlsOf('network_loading_failed'), [`${site.url}/slow`])
  const [failed] = reader.ofType('network_loading_failed')
  assert.equal(dataOf(failed)['canceled'], true)
  assert.equal(dataOf(failed)['error_text'], 'net::ERR_ABORTED')
})

test('answers have status, headers and the beginning of their text; binary ones have none', () => {
  const answerTo = (path: string) => {
    const found = reader
      .ofType('network_response')
      .filter((event) => dataOf(event)['url'] === site.url + path)
    assert.equal(found.length, 1, `${found.length} answers to ${path}`)
    return found[0]!
  }
  const long = answerTo('/long.json')
  assert.equal(dataOf(long)['body'], LONG_JSON.slice(0, 8192))
  assert.equal(long.truncated, true)
  assert.equal(dataOf(long)['mime_type'], 'application/json')
  const text = answerTo('/long.txt')
  assert.equal(dataOf(text)['body'], LONG_TEXT.slice(0, 4096))
  assert.equal(text.truncated, true)
  assert.equal(dataOf(answerTo('/record?3'))['body'], '{"record":3}')
  assert.equal(answerTo('/record?3').truncated, undefined)
  for (const path of ['/bytes', '/image?0', '/style.css', '/script.js']) {
    assert.ok(!('body' in dataOf(answerTo(path))), path)
    assert.equal(dataOf(answerTo(path))['status'], 200, path)
  }
  assert.equal(dataOf(answerTo('/missing'))['status'], 404)
  assert.equal(dataOf(answerTo('/missing'))['status_text'], 'Not Found')
  const [socket] = reader
    .ofType('network_response')
    .filter((event) => dataOf(event)['resource_type'] === 'WebSocket')
  assert.equal(dataOf(socket)['status'], 101)
})

test('post data and redirects are reported unchanged', () => {
  const requestOf = (path: string) =>
    dataOf(reader.ofType('network_request').find((event) => dataOf(event)['url'] === site.url + path))
  assert.equal(requestOf('/post')['post_data'], '{"cargo":"tea"}')
  assert.equal(requestOf('/post')['resource_type'], 'Fetch')
  const redirected = requestOf('/redirected')
  assert.equal(redirected['is_redirect'], true)
  assert.equal(redirected['redirect_url'], `${site.url}/redirect?1`)
  const document = requestOf('/')
  assert.equal(document['resource_type'], 'Document')
  assert.equal(document['is_redirect'], false)
  for (const name of [
    'session_id',
    'target_id',
    'frame_id',
    'loader_id',
    'request_id',
    'document_url',
    'initiator_type',
  ]) {
    assert.equal(typeof document[name], 'string', name)
  }
  assert.equal(document['target_type'], 'page')
  const outer = dataOf(
    reader.ofType('network_request').find((event) => String(dataOf(event)['url']).endsWith('/from-outer')),
  )
  assert.equal(outer['target_id'], document['target_id'], 'a frame in another process belongs to its tab')
  assert.notEqual(outer['session_id'], document['session_id'], 'the frame has no separate process')
  assert.notEqual(outer['frame_id'], document['frame_id'])
})

test('the console of pages, frames and workers is reported, and so are uncaught errors', async () => {
  const expected = ['all aboard', 'mind the gap', 'inner here', 'outer here', 'worker here', 'popped up']
  const texts = () => reader.ofType('console_log').map((event) => String(dataOf(event)['text']))
  await reader.until('all lines', () => texts().length >= expected.length)
  assert.deepEqual(sorted(texts()), sorted(expected))
  const [first] = reader.ofType('console_log').filter((event) => dataOf(event)['text'] === 'all aboard')
  assert.deepEqual(dataOf(first)['args'], ['all aboard', '7', '{cargo: "tea"}', '[1, "two"]'])
  assert.equal(dataOf(first)['level'], 'log')
  assert.equal(dataOf(first)['url'], `${site.url}/`)
  assert.ok(dataOf(first)['frame_id'])
  const warned = reader.ofType('console_log').find((event) => dataOf(event)['text'] === 'mind the gap')
  assert.equal(dataOf(warned)['level'], 'warning')
  assert.ok((dataOf(warned)['stack_trace'] as { callFrames: unknown[] }).callFrames.length > 0)

  const errors = reader.ofType('console_error').map(dataOf)
  assert.deepEqual(sorted(errors.map(({ text }) => String(text))), [
    'Uncaught (in promise) RangeError: nobody cares',
    'Uncaught TypeError: boom',
    'overboard',
  ])
  const thrown = errors.find(({ text }) => text === 'Uncaught TypeError: boom')!
  assert.equal(thrown['source_url'], `${site.url}/`)
  assert.equal(typeof thrown['line'], 'number')
  assert.ok(!('level' in thrown))
  assert.equal(errors.find(({ text }) => text === 'overboard')!['level'], 'error')
})

test('pages report navigation, load and network idle', async () => {
  await reader.until('the page came to rest', () => reader.ofType('page_navigation_settled').length > 0)
  const navigations = reader.ofType('page_navigation').map(dataOf)
  const paths = navigations.map(({ url }) => String(url))
  for (const url of [`${site.url}/`, `${site.url}/inner`, `${site.otherUrl}/outer`, `${site.url}/popup`]) {
    assert.equal(paths.filter((path) => path === url).length, 1, url)
  }
  const inner = navigations.find(({ url }) => url === `${site.url}/inner`)!
  const top = navigations.find(({ url }) => url === `${site.url}/`)!
  assert.equal(inner['parent_frame_id'], top['frame_id'])
  assert.ok(!('nav_seq' in top) && !('parent_frame_id' in top))

  const of = (type: string) =>
    reader.ofType(type).filter((event) => dataOf(event)['target_id'] === top['target_id'])
  for (const type of [
    'page_dom_content_loaded',
    'page_load',
    'page_layout_settled',
    'page_navigation_settled',
  ]) {
    assert.equal(of(type).length, 1, type)
    assert.equal(dataOf(of(type)[0])['nav_seq'], 1, type)
  }
  assert.ok(Number(dataOf(of('page_load')[0])['cdp_timestamp']) > 0)
  await reader.until('the network came to rest', () => of('network_idle').length > 0)
  const [lcp] = of('page_lcp')
  assert.ok((dataOf(lcp)['lcp_details'] as { size: number }).size > 1000)
  const [shift] = of('page_layout_shift')
  assert.ok((dataOf(shift)['layout_shift_details'] as { value: number }).value > 0)
  const opened = reader.ofType('page_tab_opened').map(dataOf)
  assert.equal(opened.length, 1)
  assert.equal(opened[0]!['opener_id'], top['target_id'])
})

test('clicks, keys and scrolling are reported, but no text typed where a secret may be', async () => {
  const before = reader.events.length
  await page.click('#press')
  await page.click('#name')
  await page.keyboard.type('ab')
  for (const selector of ['#password', '#code', '#number']) {
    await page.click(selector)
    await page.keyboard.type('s3cret')
  }
  await page.evaluate('focusHidden()')
  await page.keyboard.type('s3cret')
  const outer = page.frames().find((frame) => frame.url().includes('/outer'))!
  await outer.locator('button').click()
  await page.evaluate('document.activeElement.blur(); scrollTo(0, 700)')
  await page.evaluate('document.querySelector("#box").scrollTop = 400')
  await reader.until('the scrolling', () =>
    ['document', '#box'].every((selector) =>
      reader
        .ofType('interaction_scroll_settled')
        .some(
          (event) => dataOf(event)['target_selector'] === selector && Number(dataOf(event)['to_y']) >= 400,
        ),
    ),
  )
  await reader.until('the click in the frame', () => reader.ofType('interaction_click').length >= 7)

  const news = reader.events.slice(before)
  const clicks = reader.ofType('interaction_click').map(dataOf)
  const press = clicks.find(({ selector }) => selector === '#press')!
  assert.equal(press['tag'], 'BUTTON')
  assert.equal(press['text'], 'Press me')
  assert.ok(Number(press['x']) > 0 && Number(press['y']) > 0)
  assert.equal(clicks.find(({ text }) => text === 'outer')!['url'], `${site.otherUrl}/outer`)
  const keys = reader.ofType('interaction_key').map(dataOf)
  assert.deepEqual(
    keys.filter(({ selector }) => selector === '#name').map(({ key }) => key),
    ['a', 'b'],
  )
  const secret = keys.filter(({ selector }) => selector !== '#name')
  assert.equal(secret.length, 24)
  for (const { key, tag } of secret) assert.equal(key, undefined, String(tag))
  const text = JSON.stringify(news)
  for (const word of ['s3cret', 'hunter2']) assert.ok(!text.includes(word), `${word} is in the events`)
  const scrolls = reader.ofType('interaction_scroll_settled').map(dataOf)
  const whole = scrolls.findLast(({ target_selector }) => target_selector === 'document')!
  assert.equal(whole['to_y'], 700)
  const box = scrolls.find(({ target_selector }) => target_selector === '#box')!
  assert.deepEqual([box['from_y'], box['to_y']], [0, 400])
  // A page cannot detect us.
  const found = await page.evaluate(
    '[typeof berthTelemetry, typeof isWatching, Object.keys(globalThis).filter((name) => /berth/i.test(name))]',
  )
  assert.deepEqual(found, ['undefined', 'undefined', []])
})

test('a service worker is observed from its first request on', async () => {
  const before = site.requests.length
  await page.goto(`${site.otherUrl}/service`)
  await isDone(page, 'Served')
  await reader.until('the line of the service worker', () =>
    reader.ofType('console_log').some((event) => dataOf(event)['text'] === 'service here'),
  )
  const expected = site.requests.slice(before)
  assert.ok(expected.includes(`GET ${site.otherUrl}/from-service`))
  await reader.until('its request', () => urlsOf('network_request').includes(`${site.otherUrl}/from-service`))
  const [line] = reader.ofType('console_log').filter((event) => dataOf(event)['text'] === 'service here')
  assert.equal(dataOf(line)['target_type'], 'service_worker')
})

test('the server itself reports calls and connections', async () => {
  await browsers.fs.listFiles(id, { path: '/home/kernel' })
  await browsers.fs.fileInfo(id, { path: '/nowhere' }).catch(() => {})
  const second = await chromium.connectOverCDP(session.cdp_ws_url)
  await second.close()
  await reader.until('the end of the connection', () => reader.ofType('cdp_disconnect').length > 0)
  const calls = reader.ofType('api_call').map(dataOf)
  assert.deepEqual(
    calls.map(({ operation_id, status }) => [operation_id, status]),
    [
      ['listFiles', 200],
      ['fileInfo', 404],
    ],
  )
  for (const { request_id, duration_ms } of calls) {
    assert.match(String(request_id), /^req_/)
    assert.ok(Number.isInteger(duration_ms))
  }
  assert.equal(reader.ofType('cdp_connect').length, 2)
  const [gone] = reader.ofType('cdp_disconnect').map(dataOf)
  assert.equal(gone!['reason'], 'client_close')
  assert.ok(Number(gone!['message_count']) > 10 && Number(gone!['duration_ms']) >= 0)
})

test('every event is as the OpenAPI document describes its type', async () => {
  const document = (await (await server.fetch('/openapi.json')).json()) as Record<string, unknown>
  const judge = new Judge(new ApiDocument(document))
  for (const seen of reader.events) assert.equal(judge.complaintAboutEvent(seen), undefined)
  assert.ok(new Set(reader.events.map(({ event }) => event.type)).size >= 15)
})

test('numbers have no gap, and stream and history are equal for every client', async () => {
  assert.deepEqual(
    reader.events.map(({ seq }) => seq),
    reader.events.map((_event, index) => index + 1),
  )
  for (const { event } of reader.events) {
    assert.ok(Math.abs(event.ts / 1000 - Date.now()) < 300_000, String(event.ts))
    assert.ok(event.category && event.source.kind)
  }
  const last = reader.events.at(-1)!.seq
  const history: SeenEvent[] = []
  for await (const item of browsers.telemetry.events(id, { limit: 100, since: '1h' }))
    history.push(item as SeenEvent)
  // More events may have arrived at either.
  assert.deepEqual(history.slice(0, last), reader.events.slice(0, last))
  const older: SeenEvent[] = []
  for await (const item of client70(server).browsers.telemetry.events(id, { limit: 50, since: '1h' }))
    older.push(item as SeenEvent)
  assert.deepEqual(older.slice(0, last), history.slice(0, last))

  const replayed: SeenEvent[] = []
  for await (const item of await browsers.telemetry.stream(id, { replay: 'all' })) {
    replayed.push(item as SeenEvent)
    if (item.seq === last) break
  }
  assert.deepEqual(replayed, history.slice(0, last))
  const resumed: number[] = []
  for await (const item of await client70(server).browsers.telemetry.stream(id, {
    'Last-Event-ID': String(last - 5),
  })) {
    resumed.push(item.seq)
    if (item.seq === last) break
  }
  assert.deepEqual(resumed, [last - 4, last - 3, last - 2, last - 1, last])
})

test('the requests of a session are available as HAR', async () => {
  const answer = await server.fetch(`/browsers/${id}/telemetry/har`)
  assert.equal(answer.headers.get('content-type'), 'application/json')
  const { log } = (await answer.json()) as Har
  assert.equal(log.version, '1.2')
  assert.equal(log.creator.name, 'Berth')
  checkHar(log)
  const entries = log.entries.map(({ request }) => `${request.method} ${request.url}`)
  assert.deepEqual(sorted(entries), sorted(asked()))
  const json = log.entries.find(({ request }) => request.url === `${site.url}/record?3`)!
  assert.equal(json.response.content.text, '{"record":3}')
  assert.equal(json.request.queryString[0]!.name, '3')
  const redirect = log.entries.find(({ request }) => request.url === `${site.url}/redirect?1`)!
  assert.equal(redirect.response.status, 302)
  assert.equal(redirect.response.redirectURL, '/redirected')
  const post = log.entries.find(({ request }) => request.url === `${site.url}/post`)!
  assert.equal(post.request.postData!.text, '{"cargo":"tea"}')
})

test('with an empty config, an old client gets all browser events', async () => {
  const old = client55(server)
  const made = (await old.post('/browsers', { body: { headless: true, telemetry: {} } })) as {
    session_id: string
    telemetry: object
    cdp_ws_url: string
  }
  assert.deepEqual(made.telemetry, {
    browser: {
      console: { enabled: true },
      page: { enabled: true },
      interaction: { enabled: true },
      network: { enabled: true },
    },
  })
  const events = await EventReader.open(server, made.session_id, { path: 'telemetry' })
  const cdp = await chromium.connectOverCDP(made.cdp_ws_url)
  await cdp.contexts()[0]!.pages()[0]!.goto(`${site.url}/next`)
  await events.until('the request', () => events.ofType('network_response').length > 0)
  assert.equal(events.ofType('cdp_connect').length, 0)
  await cdp.close()
  await browsers.deleteByID(made.session_id)
  await events.ended
})

test('a category is added and removed while the session runs, and screenshots are taken', async () => {
  const changed = await browsers.update(id, {
    telemetry: { browser: { network: { enabled: false }, screenshot: { enabled: true } } },
  })
  assert.deepEqual(changed.telemetry!.browser!.network, { enabled: false })
  assert.deepEqual(changed.telemetry!.browser!.console, { enabled: true })
  const from = reader.events.length
  await page.goto(`${site.url}/next`)
  await page.evaluate('console.log("still here")')
  await reader.until('a picture', () => reader.ofType('monitor_screenshot').length > 0)
  const png = Buffer.from(String(dataOf(reader.ofType('monitor_screenshot')[0])['png']), 'base64')
  assert.deepEqual([...png.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47])
  await reader.until('the line', () =>
    reader.ofType('console_log').some((event) => dataOf(event)['text'] === 'still here'),
  )
  assert.ok(!reader.events.slice(from).some(({ event }) => event.category === 'network'))

  const stopped = await browsers.update(id, { telemetry: { enabled: false } })
  assert.equal(stopped.telemetry, undefined)
  const count = reader.events.length
  await page.goto(`${site.url}/next`)
  await browsers.update(id, { telemetry: { browser: { console: { enabled: true } } } })
  await page.evaluate('console.log("back again")')
  await reader.until('the line', () =>
    reader.ofType('console_log').some((event) => dataOf(event)['text'] === 'back again'),
  )
  assert.deepEqual(
    reader.events.slice(count).map(({ event }) => event.type),
    ['console_log'],
  )
})

test('the stream ends with the session, also below base_url, and history stays', async () => {
  const token = new URL(session.cdp_ws_url).searchParams.get('jwt')!
  const direct = await Promise.all(
    ['telemetry', 'telemetry/stream'].map((path) =>
      EventReader.open(server, id, { path: `${session.base_url}/${path}?jwt=${token}` }),
    ),
  )
  await browser.close()
  await browsers.deleteByID(id)
  await Promise.all([reader.ended, ...direct.map(({ ended }) => ended)])
  assert.equal(reader.events.at(-1)!.event.type, 'cdp_disconnect')
  for (const { events } of direct)
    assert.deepEqual(
      events.map(({ seq }) => seq),
      [reader.events.at(-1)!.seq],
    )
  await assert.rejects(EventReader.open(server, id), /404/)
  const page100 = await browsers.telemetry.events(id, { order: 'desc', limit: 3 })
  assert.deepEqual(
    page100.items.map(({ seq }) => seq),
    [0, 1, 2].map((back) => reader.events.at(-1 - back)!.seq),
  )
})

interface Header {
  readonly name: string
  readonly value: string
}

interface Har {
  readonly log: {
    readonly version: string
    readonly creator: { readonly name: string; readonly version: string }
    readonly entries: readonly {
      readonly startedDateTime: string
      readonly time: number
      readonly request: {
        readonly method: string
        readonly url: string
        readonly httpVersion: string
        readonly cookies: readonly unknown[]
        readonly headers: readonly Header[]
        readonly queryString: readonly Header[]
        readonly postData?: { readonly mimeType: string; readonly text: string }
        readonly headersSize: number
        readonly bodySize: number
      }
      readonly response: {
        readonly status: number
        readonly statusText: string
        readonly httpVersion: string
        readonly cookies: readonly unknown[]
        readonly headers: readonly Header[]
        readonly content: { readonly size: number; readonly mimeType: string; readonly text?: string }
        readonly redirectURL: string
        readonly headersSize: number
        readonly bodySize: number
      }
      readonly cache: object
      readonly timings: Readonly<Record<string, number>>
    }[]
  }
}

/** Fields that version 1.2 of the format requires of every entry. */
function checkHar({ entries }: Har['log']): void {
  for (const { startedDateTime, time, request, response, cache, timings } of entries) {
    assert.match(startedDateTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    for (const side of [request, response]) {
      assert.ok(typeof side.httpVersion === 'string' && Array.isArray(side.cookies))
      assert.ok(Number.isInteger(side.headersSize) && Number.isInteger(side.bodySize))
      for (const { name, value } of side.headers)
        assert.ok(typeof name === 'string' && typeof value === 'string')
    }
    assert.ok(URL.canParse(request.url) && request.method.length > 0)
    for (const { name, value } of request.queryString)
      assert.ok(typeof name === 'string' && typeof value === 'string')
    assert.ok(Number.isInteger(response.status) && typeof response.statusText === 'string')
    assert.ok(typeof response.redirectURL === 'string' && typeof response.content.mimeType === 'string')
    assert.ok(Number.isInteger(response.content.size) && response.content.size >= 0)
    assert.equal(typeof cache, 'object')
    const spent = ['blocked', 'dns', 'connect', 'send', 'wait', 'receive'].map((name) =>
      Math.max(0, timings[name]!),
    )
    assert.ok(Math.abs(spent.reduce((sum, each) => sum + each, 0) - time) < 0.01, JSON.stringify(timings))
    for (const name of ['send', 'wait', 'receive']) assert.ok(timings[name]! >= 0, name)
  }
}
