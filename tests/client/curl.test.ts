// Requests through the browser of a session: `curl` and `fetch` of the published client, and plain requests.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'
import { startTarget, type Echo } from '../fixtures/target.ts'
import { client55, client70, client84 } from './versions.ts'

const owner = { after }
const target = await startTarget(owner)
const other = await startTarget(owner)
const BERTH_EGRESS_ALLOW = [target, other].map(({ port }) => `host.berth.internal:${port}`).join()
const server = await startServer(owner, { hasRealInstances: true, env: { BERTH_EGRESS_ALLOW } })
const { browsers } = client84(server)
const session = await browsers.create({ headless: true, timeout_seconds: 300 })
const id = session.session_id
const token = new URL(session.cdp_ws_url).searchParams.get('jwt')!

interface Curled {
  readonly status: number
  readonly headers: Record<string, string[]>
  readonly body: string
  readonly duration_ms: number
  readonly net_error?: number
  readonly net_error_name?: string
}

const curl = (body: object) => send<Curled>(server, 'POST', `/browsers/${id}/curl`, body)
const echoOf = (text: string) => JSON.parse(text) as Echo

const away = (to: string, code = 302) => `${target.url}/away?code=${code}&to=${encodeURIComponent(to)}`

function raw(url: string, { query = '', ...init }: RequestInit & { query?: string } = {}): Promise<Response> {
  return fetch(`${session.base_url}/curl/raw?url=${encodeURIComponent(url)}${query}&jwt=${token}`, init)
}

test('every version of the client sends requests with the browser’s headers and its own', async () => {
  for (const client of [client55(server), client70(server), client84(server)]) {
    await client.browsers.retrieve(id)
    const answer = await client.browsers.curl(id, {
      url: `${target.url}/echo?a=1`,
      method: 'PUT',
      headers: { 'X-Own': 'mine', 'content-type': 'text/x-odd' },
      body: 'Grüße',
    })
    const { method, path, headers, body } = echoOf(answer.body)
    assert.equal(answer.status, 200)
    assert.ok(Number.isInteger(answer.duration_ms))
    assert.deepEqual(answer.headers['x-twice'], ['one', 'two'])
    assert.deepEqual([method, path], ['PUT', '/echo?a=1'])
    assert.equal(Buffer.from(body, 'base64').toString(), 'Grüße')
    assert.equal(headers['x-own'], 'mine')
    assert.equal(headers['content-type'], 'text/x-odd')
    assert.match(headers['user-agent']!, /Chrome\/\d+/)
    assert.match(headers['accept-encoding']!, /gzip/)
    assert.equal(headers['host'], `host.berth.internal:${target.port}`)
  }
})

test('fetch streams the answer of the target, and sends its body', async () => {
  const body = new Uint8Array(300_000).map((_byte, index) => index % 251)
  const answer = await browsers.fetch(id, `${target.url}/echo`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', 'x-own': 'mine' },
    body,
  })
  const echo = echoOf(await answer.text())
  assert.equal(answer.headers.get('x-twice'), 'one, two')
  assert.deepEqual(new Uint8Array(Buffer.from(echo.body, 'base64')), body)
  assert.equal(echo.headers['x-own'], 'mine')
  // Headers of the client and of its connection to us are not forwarded.
  assert.match(echo.headers['user-agent']!, /Chrome\/\d+/)
  const foreign = Object.keys(echo.headers).filter((name) => /stainless|kernel|authorization/.test(name))
  assert.deepEqual(foreign, [])
  const bytes = await browsers.fetch(id, `${target.url}/bytes`)
  assert.deepEqual([...new Uint8Array(await bytes.arrayBuffer())], [...new Uint8Array(256).keys()])
})

test('each method arrives unchanged', async () => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const { status, body } = await curl({ url: `${target.url}/echo`, method })
    assert.equal(status, 200)
    if (method === 'HEAD') assert.equal(target.requests.at(-1), 'HEAD /echo')
    else assert.equal(echoOf(body.body).method, method)
  }
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    const body = method === 'GET' ? {} : { body: `of ${method}` }
    const echo = echoOf(await (await raw(`${target.url}/echo`, { method, ...body })).text())
    assert.equal(echo.method, method)
    assert.equal(Buffer.from(echo.body, 'base64').toString(), body.body ?? '')
  }
})

test('given headers replace the browser’s', async () => {
  const headers = {
    'User-Agent': 'somebody',
    cookie: 'own=1',
    Referer: 'http://before.test/page',
    Origin: 'http://elsewhere.test',
    'accept-language': 'fr',
    Authorization: 'Bearer theirs',
  }
  const wanted = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const { body } = await curl({ url: `${target.url}/echo`, headers })
  const plain = await raw(`${target.url}/echo`, { headers })
  for (const echo of [echoOf(body.body), echoOf(await plain.text())]) {
    for (const [name, value] of Object.entries(wanted)) assert.equal(echo.headers[name], value, name)
  }
  const byKey = await server.fetch(`/browsers/${id}/curl/raw?url=${encodeURIComponent(`${target.url}/echo`)}`)
  assert.equal(echoOf(await byKey.text()).headers['authorization'], undefined)
})

test('answers are returned unchanged', async () => {
  for (const code of [204, 304, 401, 404, 418, 503]) {
    const { status, body } = await curl({ url: `${target.url}/status?code=${code}` })
    assert.equal(status, 200)
    assert.equal(body.status, code)
    const plain = await raw(`${target.url}/status?code=${code}`)
    assert.equal(plain.status, code)
    assert.equal(plain.headers.get('x-should-retry'), 'false')
    assert.equal(await plain.text(), code === 204 || code === 304 ? '' : 'as asked')
  }
  const packed = await curl({ url: `${target.url}/gzip` })
  assert.equal(packed.body.body, '{"packed":true}')
  assert.equal(packed.body.headers['content-encoding'], undefined)
  assert.deepEqual(await (await raw(`${target.url}/gzip`)).json(), { packed: true })
  const { body } = await curl({ url: `${target.url}/bytes`, response_encoding: 'base64' })
  assert.deepEqual([...Buffer.from(body.body, 'base64')], [...new Uint8Array(256).keys()])
})

test('cookies are shared with the pages, in both directions', async (t) => {
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  t.after(() => browser.close())
  const page = browser.contexts()[0]!.pages()[0]!
  await page.goto(`${target.url}/cookies?set=${encodeURIComponent('http=1; HttpOnly; SameSite=Strict')}`)
  await page.evaluate(`document.cookie = 'page=2; SameSite=Strict'`)
  const sent = await curl({ url: `${target.url}/cookies` })
  assert.deepEqual(sent.body.body.split('; ').toSorted(), ['http=1', 'page=2'])
  const sets = ['curl=3', 'hidden=4; HttpOnly'].map((cookie) => `set=${encodeURIComponent(cookie)}`).join('&')
  const { body } = await curl({ url: `${target.url}/cookies?${sets}` })
  assert.deepEqual(body.headers['set-cookie'], ['curl=3', 'hidden=4; HttpOnly'])
  const plain = await raw(`${target.url}/cookies?set=raw%3D5`)
  assert.deepEqual(plain.headers.getSetCookie(), ['raw=5'])
  const names = await page.evaluate<string[]>(
    `document.cookie.split('; ').map((cookie) => cookie.split('=')[0])`,
  )
  assert.deepEqual(names.toSorted(), ['curl', 'page', 'raw'])
  await page.reload()
  assert.match(await page.evaluate<string>('document.body.innerText'), /hidden=4/)
  await browser.contexts()[0]!.clearCookies()
})

test('redirects are followed, and credentials stay with their host', async () => {
  const headers = { authorization: 'secret', 'x-kept': 'yes', 'content-type': 'text/plain' }
  const asked = { method: 'POST', body: 'goods', headers }
  const here = await curl({ ...asked, url: away('/echo', 307) })
  assert.deepEqual(
    [echoOf(here.body.body).method, echoOf(here.body.body).headers['authorization']],
    ['POST', 'secret'],
  )
  const there = echoOf((await curl({ ...asked, url: away(`${other.url}/echo`, 308) })).body.body)
  assert.equal(Buffer.from(there.body, 'base64').toString(), 'goods')
  assert.equal(there.headers['authorization'], undefined)
  assert.equal(there.headers['x-kept'], 'yes')
  const seen = echoOf((await curl({ ...asked, url: away('/echo', 303) })).body.body)
  assert.deepEqual([seen.method, seen.body], ['GET', ''])
})

test('a failed request reports the reason in the words of Chromium', async () => {
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  closed.close()
  const failures: [object, string, number][] = [
    [{ url: `${target.url}/never`, timeout_ms: 1000 }, 'ERR_TIMED_OUT', -7],
    [{ url: `${target.url}/stalls`, timeout_ms: 1000 }, 'ERR_TIMED_OUT', -7],
    [{ url: `${target.url}/cut` }, 'ERR_CONTENT_LENGTH_MISMATCH', -354],
    [{ url: `${target.url}/loop` }, 'ERR_TOO_MANY_REDIRECTS', -310],
    [{ url: `${target.url}/away?to=file:///etc/passwd` }, 'ERR_UNSAFE_REDIRECT', -311],
    [{ url: `https://host.berth.internal:${target.port}/` }, 'ERR_SSL_PROTOCOL_ERROR', -107],
    [{ url: `https://127.0.0.1:${port}/` }, 'ERR_CONNECTION_REFUSED', -102],
    [{ url: 'http://127.0.0.1:1/' }, 'ERR_UNSAFE_PORT', -312],
  ]
  for (const [asked, name, number] of failures) {
    const { status, headers, body } = await curl(asked)
    assert.deepEqual(
      [status, body.code, body.net_error_name, body.net_error],
      [502, 'request_failed', name, number],
      JSON.stringify([asked, body]),
    )
    assert.equal(headers.get('x-should-retry'), 'false')
  }
  const late = await raw(`${target.url}/never`, { query: '&timeout_ms=1000' })
  assert.equal(late.status, 502)
  const cut = await raw(`${target.url}/cut`)
  await assert.rejects(cut.text())
  assert.equal((await curl({ url: `${target.url}/echo` })).status, 200)
})

test('an answer is read at the pace of its reader, and ends with it', async () => {
  const leaving = new AbortController()
  const answer = await raw(`${target.url}/endless`, { signal: leaving.signal })
  const reader = answer.body!.getReader()
  let read = 0
  while (read < 1024 * 1024) read += (await reader.read()).value!.length
  // Until it stops: all buffers on the way are full.
  let before = -1
  await eventually('the target is held up', async () => {
    const isStill = target.endless.bytes === before
    before = target.endless.bytes
    await new Promise((resolve) => setTimeout(resolve, 300))
    return isStill
  })
  assert.ok(target.endless.bytes < 64 * 1024 * 1024, `${target.endless.bytes} bytes were taken`)
  assert.equal(target.endless.isOpen, true)
  leaving.abort()
  await eventually('the target is let go', () => !target.endless.isOpen)
  const tooLong = await curl({ url: `${target.url}/endless` })
  assert.equal(tooLong.status, 502)
  assert.match(tooLong.body.message!, /curl\/raw/)
  await eventually('the target is let go', () => !target.endless.isOpen)
})

test('a sender that disconnects half-way harms nothing', async () => {
  const leaving = new AbortController()
  let sent = 0
  const body = new ReadableStream({
    pull: async (controller) => {
      controller.enqueue(new Uint8Array(64 * 1024))
      // More than all buffers on the way hold, and less than the limit.
      if (++sent < 100) return
      leaving.abort()
      // The client would keep asking for more and never finish.
      await new Promise(() => {})
    },
  })
  const sending = raw(`${target.url}/echo`, { method: 'POST', body, duplex: 'half', signal: leaving.signal })
  await assert.rejects(sending)
  assert.equal((await curl({ url: `${target.url}/echo` })).status, 200)
})

test('pages are not affected, and clients see no extra page', async (t) => {
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  t.after(() => browser.close())
  const [context] = browser.contexts()
  const page = context!.pages()[0]!
  await page.goto(`${target.url}/page`)
  let opened = 0
  context!.on('page', () => opened++)
  const before = await page.evaluate('history.length')
  await Promise.all(Array.from({ length: 8 }, () => curl({ url: `${target.url}/echo` })))
  assert.equal(await page.evaluate('history.length'), before)
  assert.equal(page.url(), `${target.url}/page`)
  assert.deepEqual([context!.pages().length, opened], [1, 0])
})

test('the egress rules of the session apply: refused hosts are not reached', async () => {
  let visits = 0
  const canary = createServer((socket) => {
    visits++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(canary, 'listening')
  cleanUpAfter(owner, () => void canary.close())
  const { port } = canary.address() as AddressInfo
  const hosts = [`host.berth.internal:${port}`, '169.254.169.254', '10.0.0.1', '[fd00:ec2::254]']
  for (const host of hosts) {
    for (const url of [`http://${host}/`, away(`http://${host}/`)]) {
      const { body } = await curl({ url })
      assert.equal(body.status, 403, `${url} ${JSON.stringify(body)}`)
    }
    const secure = await curl({ url: `https://${host}/` })
    assert.deepEqual(
      [secure.status, secure.body.net_error_name],
      [502, 'ERR_CONNECTION_RESET'],
      `https://${host}/`,
    )
  }
  for (const scheme of ['http', 'https']) {
    const { body } = await curl({ url: `${scheme}://0x7f.1:9222/` })
    assert.equal(body.net_error_name, 'ERR_CONNECTION_REFUSED', 'its own debugging port')
  }
  assert.equal(visits, 0)
})

test('a headful session does the same, and shows nothing of it', async () => {
  const headful = await browsers.create({ headless: false, timeout_seconds: 300 })
  const browser = await chromium.connectOverCDP(headful.cdp_ws_url)
  try {
    const answer = await browsers.curl(headful.session_id, {
      url: `${target.url}/echo`,
      method: 'POST',
      body: 'x',
    })
    assert.equal(echoOf(answer.body).method, 'POST')
    const devtools = await browser.newBrowserCDPSession()
    const { targetInfos } = await devtools.send('Target.getTargets')
    assert.equal(targetInfos.filter(({ type }) => type === 'page' || type === 'tab').length, 1)
    const { result } = await browsers.playwright.execute(headful.session_id, { code: 'return page.url()' })
    assert.equal(result, 'about:blank')
  } finally {
    await browser.close()
    await browsers.deleteByID(headful.session_id)
  }
})

test('an invalid target is refused', async () => {
  const url = `${target.url}/echo`
  const before = target.requests.length
  const refused = [
    {},
    { url: 'file:///etc/passwd' },
    { url: 'javascript:alert(1)' },
    { url: 'ftp://example.com/' },
    { url: `${target.url}/a b` },
    { url, method: 'TRACE' },
    { url, headers: { 'bad name': 'x' } },
    { url, headers: { 'x-split': 'a\r\nx-more: b' } },
    { url, timeout_ms: 999 },
    { url, timeout_ms: 60_001 },
    { url, response_encoding: 'hex' },
    { url, follow: true },
  ]
  for (const body of refused) assert.equal((await curl(body)).status, 400, JSON.stringify(body))
  assert.equal((await raw('file:///etc/passwd')).status, 400)
  assert.equal((await raw(url, { query: '&timeout_ms=1' })).status, 400)
  const large = await raw(url, { method: 'POST', body: Buffer.alloc(17 * 1024 * 1024) })
  assert.equal(large.status, 413)
  // A page that is redirected here must get neither a page nor a cookie of our origin.
  assert.equal((await raw(url, { headers: { 'sec-fetch-site': 'cross-site' } })).status, 403)
  assert.equal((await raw(url, { headers: { 'upgrade-insecure-requests': '1' } })).status, 403)
  assert.equal(target.requests.length, before)
})
