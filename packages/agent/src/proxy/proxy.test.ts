import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createProxy } from './proxy.ts'

async function listen(server: Server, t: TestContext): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** A proxy, a server on loopback, a protected server, and an egress that echoes what it receives. */
async function startProxy(t: TestContext, { hostLoopback = false } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'berth-proxy-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const egressSocket = join(directory, 'egress.sock')
  const egress = createServer((client) => {
    client.on('error', () => {})
    client.once('data', (head) => client.end(`EGRESS ${head.toString()}`))
  })
  egress.listen(egressSocket)
  await once(egress, 'listening')
  t.after(() => egress.close())

  const own = createHttpServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () =>
      response.end(JSON.stringify([request.method, request.url, request.headers, body])),
    )
  })
  const ownPort = await listen(own, t)
  let touched = 0
  const guarded = createServer((client) => {
    touched++
    client.destroy()
  })
  const guardedPort = await listen(guarded, t)
  const proxy = createProxy({ egressSocket, protectedPorts: [guardedPort], hostLoopback })
  const port = await listen(proxy, t)
  const send = async (text: string): Promise<string> => {
    const client = connect(port, '127.0.0.1')
    client.write(text)
    let answer = ''
    for await (const chunk of client as AsyncIterable<Buffer>) answer += chunk.toString()
    return answer
  }
  return { send, ownPort, guardedPort, port, touched: () => touched }
}

const SPELLINGS = [
  'localhost', 'LOCALHOST', 'localhost.', 'a.b.localhost', '127.0.0.1', '127.1', '127.255.255.254', '2130706433',
  '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001', '127。0。0。1', '①②⑦.0.0.1', '%31%32%37.0.0.1', '[::1]',
  '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '127.0.0.1.',
] // prettier-ignore

test('the proxy refuses a protected port in every spelling, for tunnels and requests', async (t) => {
  const { send, guardedPort, touched } = await startProxy(t)
  for (const host of SPELLINGS) {
    const text = Buffer.from(host).toString('latin1')
    const tunnel = await send(`CONNECT ${text}:${guardedPort} HTTP/1.1\r\n\r\n`)
    assert.match(tunnel, /^HTTP\/1\.1 (403|400) /, `CONNECT ${host}: ${tunnel}`)
    const asked = await send(`GET http://${text}:${guardedPort}/json/version HTTP/1.1\r\n\r\n`)
    assert.match(asked, /^HTTP\/1\.1 (403|400) |^EGRESS /, `GET ${host}: ${asked}`)
  }
  assert.equal(touched(), 0)
})

test('a request to loopback reaches the server in origin form, one per connection', async (t) => {
  const { send, ownPort } = await startProxy(t)
  const answer = await send(
    `POST http://localhost:${ownPort}/a/../b?c=%20 HTTP/1.1\r\nHost: localhost:${ownPort}\r\n` +
      `Proxy-Connection: keep-alive\r\nAuthorization: kept\r\n` +
      `Content-Length: 4\r\n\r\nbody`,
  )
  const [method, url, headers, body] = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as [
    string,
    string,
    Record<string, string>,
    string,
  ]
  assert.deepEqual([method, url, body], ['POST', '/a/../b?c=%20', 'body'])
  assert.equal(headers['proxy-connection'], undefined)
  assert.equal(headers['authorization'], 'kept')
  assert.equal(headers['connection'], 'close')
})

test('a server that keeps its connection open still gets only one request on it', async (t) => {
  const { send } = await startProxy(t)
  let got = ''
  const keeping = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      got += chunk.toString()
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi')
    })
  })
  const port = await listen(keeping, t)
  const answer = await send(
    `GET http://localhost:${port}/own HTTP/1.1\r\nHost: x\r\nProxy-Connection: keep-alive\r\n\r\n` +
      'GET http://example.test/of-another HTTP/1.1\r\nHost: example.test\r\nCookie: secret\r\n\r\n',
  )
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n\r\nhi$/)
  assert.match(got, /^GET \/own HTTP\/1\.1\r\n/)
  assert.ok(!/proxy-connection|of-another|secret/i.test(got), got)
})

test('the proxy survives malformed answers', async (t) => {
  const { send } = await startProxy(t)
  let answer = ''
  const odd = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(answer, 'latin1'))
  })
  const port = await listen(odd, t)
  const ask = () => send(`GET http://localhost:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`)
  for (answer of [
    'HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 200 O\x01K\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    'nonsense',
    '',
  ]) {
    assert.match(await ask(), /^$|^HTTP\/1\.1 502 /, JSON.stringify(answer))
  }
  answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'
  assert.match(await ask(), /hi$/)
})

test('a body keeps its framing, whatever the method', async (t) => {
  const { send } = await startProxy(t)
  let got = ''
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      got += chunk.toString()
      if (got.endsWith('0\r\n\r\n')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
  })
  const port = await listen(server, t)
  const body = '16\r\nGET /hidden HTTP/1.1\r\n\r\n0\r\n\r\n'
  await send(
    `DELETE http://localhost:${port}/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
  )
  assert.match(got, /transfer-encoding: chunked/i)
  assert.ok(got.includes('\r\n\r\n16\r\nGET /hidden'), got)
})

test('a tunnel to loopback carries bytes both ways', async (t) => {
  const { send, ownPort } = await startProxy(t)
  const answer = await send(
    `CONNECT 127.0.0.1:${ownPort} HTTP/1.1\r\nHost: x\r\n\r\nGET /in HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  )
  assert.match(answer, /^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 OK/)
  assert.match(answer, /"GET","\/in"/)
})

test('everything else goes to egress unchanged', async (t) => {
  const { send } = await startProxy(t)
  for (const text of [
    'CONNECT example.test:443 HTTP/1.1\r\nHost: example.test\r\n\r\n',
    'GET http://example.test/x HTTP/1.1\r\nProxy-Connection: keep-alive\r\n\r\n',
    'GET http://10.0.0.1/ HTTP/1.1\r\n\r\n',
    'GET http://localhost.example.test/ HTTP/1.1\r\n\r\n',
    'GET http://0.0.0.0:9222/ HTTP/1.1\r\n\r\n',
    'CONNECT [64:ff9b::7f00:1]:80 HTTP/1.1\r\n\r\n',
  ]) {
    assert.equal(await send(text), `EGRESS ${text}`)
  }
})

test('with the loopback of the host allowed, egress also decides about loopback', async (t) => {
  const { send, guardedPort } = await startProxy(t, { hostLoopback: true })
  const text = `GET http://localhost:${guardedPort}/ HTTP/1.1\r\n\r\n`
  assert.equal(await send(text), `EGRESS ${text}`)
})

test('the proxy refuses requests that are not for a proxy, and reports a silent server as an error', async (t) => {
  const { send, port } = await startProxy(t)
  // A client's own port: nobody listens on it, and nobody else can get it.
  const client = connect(port, '127.0.0.1')
  t.after(() => client.destroy())
  await once(client, 'connect')
  const closedPort = client.localPort
  const cases: [string, RegExp][] = [
    ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['nonsense\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['CONNECT localhost HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['CONNECT a@localhost:80 HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 403 /],
    ['CONNECT a:b@localhost:80 HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 403 /],
    ['CONNECT @localhost:80 HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 403 /],
    [`CONNECT localhost:${closedPort} HTTP/1.1\r\nProxy-Authorization: x\r\n\r\n`, /^HTTP\/1\.1 403 /],
    [`GET http://localhost:${closedPort}/ HTTP/1.1\r\nproxy-authorization:x\r\n\r\n`, /^HTTP\/1\.1 403 /],
    ['GET http://a:b@example.test/ HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 403 /],
    ['GET https://example.test/ HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['GET http:\\\\localhost/ HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['GET /run/berth/egress.sock HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
    [`GET http://localhost:${closedPort}/ HTTP/1.1\r\n\r\n`, /^HTTP\/1\.1 502 /],
    [`GET http://example.test/${'x'.repeat(200_000)}`, /^HTTP\/1\.1 431 /],
  ]
  for (const [text, expected] of cases) assert.match(await send(text), expected, text.slice(0, 60))
  const vanishing = connect(port, '127.0.0.1')
  vanishing.write('GET http://loc')
  await once(vanishing, 'connect')
  vanishing.destroy()
  assert.match(await send('CONNECT example.test:443 HTTP/1.1\r\n\r\n'), /^EGRESS/)
})
