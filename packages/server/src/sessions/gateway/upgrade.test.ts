import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  closeOf,
  openClient,
  rawExchange,
  startBrowser,
  startGateway,
  startRawBrowser,
  tryUpgrade,
  until,
  type Answer,
  type TestGateway,
} from '../../../../../tests/fixtures/gateway.ts'

const limits = { connectMs: 300, graceMs: 200 }

async function startEcho(t: TestContext): Promise<TestGateway & { path: string }> {
  const port = await startBrowser(t, (client) => client.on('message', (data) => client.send(data)))
  const gateway = await startGateway(t, port, limits)
  return { ...gateway, path: new URL(gateway.url).pathname + new URL(gateway.url).search }
}

function checkRefusal(answer: Answer, status: number, code: string, what?: string): void {
  assert.equal(answer.status, status, what)
  assert.match(answer.headers.connection as string, /^close/)
  const body = JSON.parse(answer.body) as { code: string; message: string }
  assert.equal(body.code, code, what)
  assert.match(body.message, /^Cannot /)
}

test('a websocket goes through with its token', async (t) => {
  const { path, port, session } = await startEcho(t)
  const answer = await tryUpgrade(port, path)
  assert.equal(answer.status, 101)
  assert.equal(answer.headers['sec-websocket-extensions'], undefined)
  assert.equal(session.connects, 1)
  await until(() => session.holds === 0)
})

test('without a good token nothing of the session is touched', async (t) => {
  const { port, tokens, session, path } = await startEcho(t)
  const sign = (...audience: string[]) => tokens.sign({ sessionId: 'one', audience })
  const cdp = sign('cdp', 'control')
  for (const target of [
    '/browser/cdp',
    '/browser/cdp?',
    '/browser/cdp?jwt=',
    '/browser/cdp?jwt=x.y.z',
    `/browser/cdp?jwt=${sign('live')}`,
    `/browser/cdp?jwt=${sign('bidi')}`,
    `/browser/webdriver/session?jwt=${cdp}`,
    `/browser/playwright?jwt=${cdp}`,
    `/browser/cdp?jwt=${cdp}&jwt=${cdp}`,
    `/browser/cdp?JWT=${cdp}`,
    `/browser/cdp?jwt=${cdp}x`,
    `/browser/cdp?jwt=${cdp.split('.').slice(0, 2).join('.')}.`,
    `/browser/cdp?jwt=${'a'.repeat(12_000)}`,
    '/browser/cdp/devtools/page/AB12',
  ]) {
    const answer = await tryUpgrade(port, target)
    checkRefusal(answer, 401, 'unauthorized', target)
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
  }
  assert.equal(session.connects, 0)
  assert.equal((await tryUpgrade(port, path)).status, 101)
})

test('no token is ever logged', async (t) => {
  const { path, port, lines, session, tokens, gateway } = await startEcho(t)
  await tryUpgrade(port, path)
  await tryUpgrade(port, `${path}x`)
  await tryUpgrade(port, path, { origin: 'https://evil.example' })
  session.path = '/wrong'
  assert.equal((await tryUpgrade(port, path)).status, 503)
  await until(() => gateway.connectionCount === 0 && session.holds === 0)
  assert.ok(lines.length >= 3)
  const token = tokens.sign({ sessionId: 'one', audience: ['cdp', 'control'] })
  const [header] = token.split('.')
  assert.ok(!lines.join('').includes(header!), lines.join(''))
  assert.ok(!lines.join('').includes('jwt'))
})

test('a page of another origin is refused before its token is checked', async (t) => {
  const { path, port, session } = await startEcho(t)
  for (const origin of [
    'https://evil.example',
    'null',
    '',
    'file://',
    `http://127.0.0.1:${port}.evil.example`,
  ]) {
    checkRefusal(await tryUpgrade(port, path, { origin }), 403, 'forbidden', origin)
    checkRefusal(await tryUpgrade(port, '/browser/cdp', { origin }), 403, 'forbidden', origin)
  }
  assert.equal(session.connects, 0)
  assert.equal((await tryUpgrade(port, path, { origin: `http://127.0.0.1:${port}` })).status, 101)
})

test('another host is refused, before anything else', async (t) => {
  const { path, port, session } = await startEcho(t)
  for (const host of ['evil.example', '127.0.0.1.evil.example', '192.168.1.1']) {
    checkRefusal(
      await tryUpgrade(port, path, { host, origin: 'https://evil.example' }),
      421,
      'misdirected_request',
    )
  }
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
  const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
  const without = await rawExchange(port, `GET ${path} HTTP/1.1\r\n${upgrade}${key}\r\n`)
  assert.match(without, /^HTTP\/1\.1 400 /)
  const two = await rawExchange(
    port,
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n${upgrade}${key}\r\n`,
  )
  assert.match(two, /^HTTP\/1\.1 400 /)
  const absolute = await rawExchange(
    port,
    `GET http://evil.example${path} HTTP/1.1\r\nHost: localhost\r\n${upgrade}${key}\r\n`,
  )
  assert.match(absolute, /^HTTP\/1\.1 421 /)
  assert.equal(session.connects, 0)
})

test('a malformed handshake is refused and the connection closed', async (t) => {
  const { path, port, session } = await startEcho(t)
  const rows: [Record<string, string | string[] | undefined>, number][] = [
    [{ 'sec-websocket-key': undefined }, 400],
    [{ 'sec-websocket-key': 'short' }, 400],
    [{ 'sec-websocket-key': 'A'.repeat(24) }, 400],
    [{ 'sec-websocket-key': `${'A'.repeat(22)}==, x` }, 400],
    [{ 'sec-websocket-version': '8' }, 426],
    [{ 'sec-websocket-version': undefined }, 426],
    [{ upgrade: 'h2c' }, 426],
    [{ upgrade: 'websocket, h2c' }, 426],
    [{ 'content-length': '5' }, 400],
    [{ 'transfer-encoding': 'chunked' }, 400],
  ]
  for (const [headers, status] of rows) {
    const answer = await tryUpgrade(port, path, headers)
    assert.equal(answer.status, status, JSON.stringify(headers))
    assert.match(answer.headers.connection as string, /^close/)
    if (status === 426) assert.equal(answer.headers['sec-websocket-version'], '13')
  }
  assert.equal(session.connects, 0)
  assert.equal((await tryUpgrade(port, path)).status, 101)
})

test('smuggled and malformed requests are refused and the connection closed', async (t) => {
  const { path, port, session } = await startEcho(t)
  const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
  const base = `Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n${key}`
  const next = `GET /secret HTTP/1.1\r\nHost: localhost\r\n\r\n`
  const rows: [string, RegExp][] = [
    [`GET ${path} HTTP/1.0\r\n${base}\r\n`, /^HTTP\/1\.1 400 /],
    [`POST ${path} HTTP/1.1\r\n${base}Content-Length: ${next.length}\r\n\r\n${next}`, /^HTTP\/1\.1 405 /],
    [
      `GET ${path} HTTP/1.1\r\n${base}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${next}`,
      /^HTTP\/1\.1 400 /,
    ],
    [`GET ${path} HTTP/1.1\r\n${base}Transfer-Encoding: xchunked\r\n\r\n${next}`, /^HTTP\/1\.1 400 /],
    [
      `GET ${path} HTTP/1.1\r\n${base}X-Fold: a\r\n b: c\r\n Transfer-Encoding: chunked\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
    [`GET ${path} HTTP/1.1\r\n${base}Content-Length: 0\r\nContent-Length: 5\r\n\r\n`, /^HTTP\/1\.1 400 /],
    [`GET ${path} HTTP/1.1\r\n${base}${key}\r\n`, /^HTTP\/1\.1 400 /],
    [`GET ${path} HTTP/1.1\r\n${base}X: ${'a'.repeat(64 * 1024)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    [`GET /browser/cdp?jwt=${'a'.repeat(1024 * 1024)} HTTP/1.1\r\n${base}\r\n`, /^HTTP\/1\.1 431 |^$/],
    [`GET //evil.example${path} HTTP/1.1\r\n${base}\r\n`, /route|^HTTP\/1\.1 404 /],
  ]
  for (const [text, expected] of rows) {
    const answer = await rawExchange(port, text.replace('HTTP/1.1\r\n', 'HTTP/1.1\r\nX-A: b\r\n'))
    assert.match(answer, expected, text.slice(0, 40) + text.slice(-200))
    assert.ok(!answer.includes('/secret'))
    assert.equal(answer.split('HTTP/1.1 ').length, answer === '' ? 1 : 2, 'one answer')
  }
  assert.ok(session.connects <= 1)
  assert.equal((await tryUpgrade(port, path)).status, 101)
})

test('a plain request is told to upgrade, and asks for its token first', async (t) => {
  const { path, port } = await startEcho(t)
  const plain = { upgrade: undefined, connection: undefined }
  const answer = await tryUpgrade(port, path, plain)
  checkRefusal(answer, 426, 'upgrade_required')
  assert.equal(answer.headers.upgrade, 'websocket')
  checkRefusal(await tryUpgrade(port, '/browser/cdp', plain), 401, 'unauthorized')
  checkRefusal(await tryUpgrade(port, path, { ...plain, origin: 'https://evil.example' }), 403, 'forbidden')
  checkRefusal(await tryUpgrade(port, path, { ...plain, host: 'evil.example' }), 421, 'misdirected_request')
})

test('other paths keep their routes, also for requests that offer an upgrade', async (t) => {
  const { port } = await startEcho(t)
  for (const path of [
    '/projects',
    '/browser',
    '/browser/cdpx',
    '/browser/cdp/x',
    '/browser/cdp/devtools/x/y',
  ]) {
    const answer = await tryUpgrade(port, path, { upgrade: 'h2c' })
    assert.deepEqual([answer.status, answer.body], [200, 'route'], path)
  }
})

test('discovery requests are answered with the addresses of this server', async (t) => {
  const { port, tokens, url, session } = await startEcho(t)
  const token = tokens.sign({ sessionId: 'one', audience: ['cdp', 'control'] })
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/browser/cdp${path}?jwt=${token}`)
    assert.equal(response.status, 200, path)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    return await response.json()
  }
  const socketUrl = url.replace(/jwt=.*/, `jwt=${token}`)
  const version = { Browser: 'Chrome/1', webSocketDebuggerUrl: socketUrl }
  assert.deepEqual(await get('/json/version'), version)
  assert.deepEqual(await get('/json/version/'), version)
  const pageUrl = socketUrl.replace('/browser/cdp', '/browser/cdp/devtools/page/AB12')
  const list = [{ id: 'AB12', type: 'page', webSocketDebuggerUrl: pageUrl }]
  for (const path of ['/json', '/json/', '/json/list', '/json/list/']) assert.deepEqual(await get(path), list)
  assert.deepEqual(await get('/json/protocol'), { domains: [] })
  assert.equal(session.holds, 0)
  const page = await openClient(t, pageUrl)
  const echoed = new Promise<string>((resolve) =>
    page.once('message', (data: Buffer) => resolve(data.toString())),
  )
  page.send('to the page')
  assert.equal(await echoed, 'to the page')
})

test('pages and BiDi use the paths of the browser, and the token does not reach it', async (t) => {
  const asked: [string | undefined, string[]][] = []
  const port = await startBrowser(t, (_client, request) => {
    asked.push([request.url, Object.keys(request.headers).toSorted()])
  })
  const gateway = await startGateway(t, port, limits)
  const bidi = gateway.tokens.sign({ sessionId: 'one', audience: ['bidi'] })
  const extra = {
    cookie: 'a=b',
    'x-forwarded-for': '1.2.3.4',
    'sec-websocket-extensions': 'permessage-deflate',
  }
  await tryUpgrade(gateway.port, new URL(gateway.url).pathname + new URL(gateway.url).search, extra)
  await tryUpgrade(gateway.port, `/browser/cdp/devtools/page/AB12${new URL(gateway.url).search}`, extra)
  await tryUpgrade(gateway.port, `/browser/webdriver/session?jwt=${bidi}`, extra)
  const headers = ['connection', 'host', 'sec-websocket-key', 'sec-websocket-version', 'upgrade']
  assert.deepEqual(asked, [
    [gateway.session.path, headers],
    ['/devtools/page/AB12', headers],
    ['/session', headers],
  ])
})

test('a missing or ended session is not found', async (t) => {
  const { path, port, tokens, session } = await startEcho(t)
  const other = tokens.sign({ sessionId: 'two', audience: ['cdp'] })
  checkRefusal(await tryUpgrade(port, `/browser/cdp?jwt=${other}`), 404, 'not_found')
  session.end('deleted')
  checkRefusal(await tryUpgrade(port, path), 404, 'not_found')
  assert.equal(session.connects, 0)
})

test('a session accepts a limited number of clients, and another when one leaves', async (t) => {
  const browser = await startBrowser(t, () => {})
  const { gateway, port, url, session } = await startGateway(t, browser, {
    ...limits,
    connectionsPerSession: 3,
  })
  const path = new URL(url).pathname + new URL(url).search
  const clients = await Promise.all([1, 2, 3].map(() => openClient(t, url)))
  assert.equal(gateway.connectionCount, 3)
  const answer = await tryUpgrade(port, path)
  checkRefusal(answer, 429, 'too_many_requests')
  assert.equal(answer.headers['retry-after'], '1')
  assert.equal(session.connects, 3)
  clients[0]!.close()
  await closeOf(clients[0]!)
  await until(() => gateway.connectionCount === 2)
  assert.equal((await tryUpgrade(port, path)).status, 101)
})

test('a browser that misbehaves in the handshake does no harm', async (t) => {
  const ok = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
  const rows: Record<string, string | Buffer | undefined> = {
    silent: undefined,
    empty: '',
    garbage: Buffer.alloc(20_000, 0xff),
    'no such thing': 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
    'plain 200': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    'no accept': `${ok}\r\n`,
    'wrong accept': `${ok}Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n`,
    'no upgrade': 'HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\n\r\n',
    'endless head': `${ok}X: ${'a'.repeat(100_000)}`,
    'no head end': `${ok}X: y\r\n`,
  }
  let row: string | Buffer | undefined
  let keys = 0
  const port = await startRawBrowser(t, (socket) => {
    socket.once('data', (head) => {
      keys += Number(head.toString().includes('Sec-WebSocket-Key: '))
      if (row === '') socket.destroy()
      else if (row !== undefined) socket.write(row)
    })
  })
  const { session, gateway, url, ...rest } = await startGateway(t, port, limits)
  const path = new URL(url).pathname + new URL(url).search
  for (const [name, answer] of Object.entries(rows)) {
    row = answer
    const refusal = await tryUpgrade(rest.port, path)
    checkRefusal(refusal, 503, 'unavailable', name)
    assert.equal(refusal.headers['retry-after'], '1')
    await until(() => session.streams.size === 0 && session.holds === 0)
  }
  assert.equal(gateway.connectionCount, 0)
  assert.ok(keys >= Object.keys(rows).length)
  row = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n["x",null'
  const response = await fetch(`http://127.0.0.1:${rest.port}${path.replace('?', '/json/list?')}`)
  assert.equal(response.status, 503)
  await until(() => session.streams.size === 0 && session.holds === 0)
})

test('a Playwright client of a version that the session lacks is told which ones it has', async (t) => {
  let versions = '1.65 1.64'
  const asked: string[] = []
  const browser = await startRawBrowser(t, (socket) => {
    socket.once('data', (head) => {
      asked.push(head.toString().split(' ', 2)[1]!)
      socket.write(`HTTP/1.1 428 Precondition Required\r\nPlaywright-Versions: ${versions}\r\n\r\n`)
    })
  })
  const { port, tokens } = await startGateway(t, browser, limits)
  const path = `/browser/playwright?jwt=${tokens.sign({ sessionId: 'one', audience: ['playwright'] })}`
  const refusal = async (userAgent: string) => {
    const answer = await tryUpgrade(port, path, { 'user-agent': userAgent })
    checkRefusal(answer, 400, 'bad_request')
    return (JSON.parse(answer.body) as { message: string }).message
  }
  const message = await refusal('Playwright/1.40.1 (x64; debian 13) node/24.1')
  assert.match(message, /serve Playwright 1\.40: this session has 1\.65 and 1\.64\. Use one that it has,/)
  assert.match(message, /add 1\.40 to BERTH_PLAYWRIGHT_VERSIONS, or use connectOverCDP with cdp_ws_url$/)
  // What the instance says is not repeated unless it is versions.
  for (versions of ['<b>1.65</b>', '1.65 '.repeat(100), '']) {
    assert.match(await refusal('Playwright/1.40.1'), /: this session has other versions\. Use one/)
  }
  await refusal('Playwright/../../1.40.1')
  await refusal('curl/8')
  assert.deepEqual([...new Set(asked)], ['/1.40', '/'])
})

test('a client that leaves while the browser is slow leaves nothing behind', async (t) => {
  const port = await startRawBrowser(t, () => {})
  const { session, url } = await startGateway(t, port, { ...limits, connectMs: 60_000 })
  const gone = openClient(t, url).catch(() => 'gone')
  await until(() => session.streams.size === 1)
  const { WebSocket } = await import('ws')
  const leaving = new WebSocket(url)
  leaving.on('error', () => {})
  await until(() => session.streams.size === 2)
  leaving.terminate()
  await until(() => session.streams.size === 1)
  assert.equal(session.holds, 1)
  session.end('crashed')
  assert.equal(await gone, 'gone')
  await until(() => session.holds === 0)
})
