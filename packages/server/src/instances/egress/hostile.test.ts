// Forbidden targets in every notation. A canary listens on both loopback addresses; it must not see
// a single connection.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { test, type TestContext } from 'node:test'
import {
  ask,
  codeOf,
  echo,
  listenOn,
  openSocket,
  openTunnel,
  readAll,
  readUntil,
  startProxy,
  startServer,
} from '../../../../../tests/fixtures/egress.ts'

const hosts = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '2130706433',
  '0x7f.1',
  '0x7f000001',
  '0177.0.0.1',
  '017700000001',
  '127.000.000.001',
  '127.255.255.254',
  '0',
  '0.0.0.0',
  '0x0',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'a.localhost',
  'a.localhost.',
  'host.berth.internal',
  'HOST.berth.internal.',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '%E2%91%A0%E2%91%A1%E2%91%A6.%E2%93%AA.%E2%93%AA.%E2%91%A0',
  '127%E3%80%820%E3%80%820%E3%80%821',
  '%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1',
  '%6cocalhost',
  '%E2%93%9Bocalhost',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[fc00::1]',
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '[::ffff:169.254.169.254]',
  '100.64.0.1',
  '100.127.255.255',
  '198.18.0.1',
  '198.19.255.255',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  'rebound.example',
  'mixed.example',
  'metadata.example',
]

const unreadable = [
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '１２７.0.0.1',
  'user@127.0.0.1',
  'user:pass@localhost',
  'example.com@127.0.0.1',
  '127.0.0.1%00.example.com',
  '127.0.0.1%2f.example.com',
  '127.0.0.1%40example.com',
  '127.0.0.1\\.example.com',
  '127.0.0.1#.example.com',
  '[::1%25lo]',
  '[::1',
  '::1',
  '',
  '.',
  '1.2.3.4.5',
  '127.0.0.1..',
]

const answers: Record<string, string[]> = {
  'rebound.example': ['127.0.0.1'],
  'mixed.example': ['8.8.8.8', '127.0.0.1'],
  'metadata.example': ['169.254.169.254'],
}
const lookup = async (name: string) => answers[name] ?? []

async function startCanary(t: TestContext): Promise<{ port: number; connections: () => number }> {
  const four = await startServer(t, echo)
  const six = await startServer(t, echo, { address: '::1', port: four.port })
  return { port: four.port, connections: () => four.connections() + six.connections() }
}

test('no notation reaches a closed address', async (t) => {
  const canary = await startCanary(t)
  const { path } = await startProxy(t, { direct: { lookup } })
  for (const host of hosts) {
    const tunnel = await openTunnel(t, path, `${host}:${canary.port}`)
    assert.equal(tunnel.status, 403, `CONNECT ${host}`)
    assert.equal(codeOf(tunnel.body), 'egress_denied', host)
    const answer = await ask(path, `http://${host}:${canary.port}/`)
    assert.equal(answer.status, 403, `GET ${host}`)
    assert.equal(codeOf(answer.body), 'egress_denied', host)
  }
  assert.equal(canary.connections(), 0)
})

test('refuses a malformed host', async (t) => {
  const canary = await startCanary(t)
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'], direct: { lookup } })
  for (const host of unreadable) {
    for (const line of [`CONNECT ${host}:${canary.port}`, `GET http://${host}:${canary.port}/`]) {
      const socket = await openSocket(t, path)
      socket.write(`${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      const status = Number((await readUntil(socket, '\r\n')).split(' ')[1])
      assert.ok(status === 400 || status === 403, `${line} ${status}`)
      socket.destroy()
    }
  }
  assert.equal(canary.connections(), 0)
})

test('denied ports are refused even where the address is open', async (t) => {
  const canary = await startCanary(t)
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'], deniedPorts: [25, canary.port] })
  for (const port of [25, canary.port]) {
    const tunnel = await openTunnel(t, path, `127.0.0.1:${port}`)
    assert.equal(tunnel.status, 403)
    assert.match(
      tunnel.body,
      new RegExp(`"Cannot reach \\\\"127.0.0.1:${port}\\\\": port ${port} is denied"`),
    )
    assert.equal((await ask(path, `http://127.0.0.1:${port}/`)).status, 403)
  }
  assert.equal((await openTunnel(t, path, 'a.example:25')).status, 403)
  assert.equal(canary.connections(), 0)
})

test('opens only listed entries: other ports and notations of the host stay closed', async (t) => {
  const canary = await startCanary(t)
  const open = await startServer(t, echo)
  const { path } = await startProxy(t, { allow: [`host.berth.internal:${open.port}`], direct: { lookup } })
  for (const authority of [
    `host.berth.internal:${canary.port}`,
    `127.0.0.1:${open.port}`,
    `localhost:${open.port}`,
    `rebound.example:${open.port}`,
  ]) {
    assert.equal((await openTunnel(t, path, authority)).status, 403, authority)
  }
  assert.equal(canary.connections() + open.connections(), 0)
})

test('a name that is rebound between the check and the connection still leads to the checked address', async (t) => {
  const canary = await startCanary(t)
  const judged = await startServer(t, (socket) => socket.end('judged'), {
    address: '127.0.0.2',
    port: canary.port,
  })
  let asked = 0
  const { path } = await startProxy(t, {
    allow: [`a.example:${canary.port}`],
    direct: { lookup: async () => (++asked === 1 ? ['127.0.0.2'] : ['127.0.0.1']) },
  })
  const { status, socket } = await openTunnel(t, path, `a.example:${canary.port}`)
  assert.equal(status, 200)
  assert.equal(await readAll(socket), 'judged')
  assert.deepEqual([asked, judged.connections(), canary.connections()], [1, 1, 0])
})

test('a redirect is passed on, not followed, and its target is checked', async (t) => {
  const canary = await startCanary(t)
  const targets = [
    `http://127.0.0.1:${canary.port}/`,
    'http://169.254.169.254/',
    'file:///etc/passwd',
    'gopher://a.example/',
  ]
  const server = createHttpServer((request, response) => {
    response.writeHead(302, { location: targets[Number(request.url!.slice(1))]! }).end()
  })
  const port = await listenOn(t, server)
  const { path } = await startProxy(t, { allow: [`host.berth.internal:${port}`] })
  for (const [index, location] of targets.entries()) {
    const answer = await ask(path, `http://host.berth.internal:${port}/${index}`)
    assert.deepEqual([answer.status, answer.headers.location], [302, location])
    assert.equal((await ask(path, location)).status, 403, location)
  }
  assert.equal(canary.connections(), 0)
})

test('refuses a request that is not for a proxy or that smuggles another one', async (t) => {
  const canary = await startCanary(t)
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const url = `http://127.0.0.1:${canary.port}/`
  const requests: Record<string, string> = {
    'origin form': 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    'asterisk form': 'OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    'CONNECT without port': 'CONNECT 127.0.0.1 HTTP/1.1\r\nHost: a\r\n\r\n',
    'length and chunks': `POST ${url} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'unknown coding': `POST ${url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    'two codings': `POST ${url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    'two lengths': `POST ${url} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
    'folded header': `GET ${url} HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n`,
    websocket: `GET ${url} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    nonsense: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
  }
  for (const [name, text] of Object.entries(requests)) {
    const socket = await openSocket(t, path)
    socket.write(text, 'latin1')
    assert.match(await readUntil(socket, '\r\n'), /^HTTP\/1\.1 400 /, name)
    socket.destroy()
  }
  assert.equal(canary.connections(), 0)
})

test('refuses proxy credentials in every position and forwards none', async (t) => {
  const canary = await startCanary(t)
  const { path, logged } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const place = `127.0.0.1:${canary.port}`
  const credentials = 'Proxy-Authorization: Basic c2VjcmV0OnNlY3JldA==\r\n'
  const requests = [
    `CONNECT secret:secret@${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`,
    `CONNECT secret@${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`,
    `CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n${credentials}\r\n`,
    `GET http://secret:secret@${place}/ HTTP/1.1\r\nHost: ${place}\r\n\r\n`,
    `GET http://${place}/ HTTP/1.1\r\nHost: ${place}\r\n${credentials}\r\n`,
    `GET http://${place}/ HTTP/1.1\r\nHost: ${place}\r\n${credentials.toLowerCase()}\r\n`,
    `GET http://${place}/ HTTP/1.1\r\nHost: ${place}\r\nProxy-Authorization:\r\n\r\n`,
  ]
  for (const text of requests) {
    const socket = await openSocket(t, path)
    socket.write(text)
    const answer = await readAll(socket)
    assert.match(answer, /^HTTP\/1\.1 403 /, text)
    assert.match(answer, /"code":"egress_denied"/, text)
    assert.doesNotMatch(answer, /secret|c2VjcmV0/, text)
  }
  assert.equal(canary.connections(), 0)
  assert.doesNotMatch(logged.join(''), /secret|c2VjcmV0/)
})

test('the log names hosts, but no path, query, user or header', async (t) => {
  const server = createHttpServer((_request, response) => response.end())
  const port = await listenOn(t, server)
  const { path, logged } = await startProxy(t, { allow: [`host.berth.internal:${port}`] })
  await ask(path, `http://host.berth.internal:${port}/secret?secret=secret`, {
    headers: { 'x-secret': 'secret' },
  })
  await ask(path, 'http://10.0.0.1/secret?secret')
  await ask(path, 'http://secret:secret@10.0.0.1/')
  await openTunnel(t, path, 'secret:secret@10.0.0.1:443')
  assert.match(logged.join(''), /host\.berth\.internal[^]*10\.0\.0\.1/)
  assert.doesNotMatch(logged.join(''), /secret/)
  assert.ok(logged.every((line) => (JSON.parse(line) as { level: number }).level === 20))
})

test('a target cannot be the unix socket of another service', async (t) => {
  const { path } = await startProxy(t, { allow: ['0.0.0.0/0', '::/0'] })
  for (const url of [
    'http://unix:/run/some.sock',
    'http://unix:%2Frun%2Fsome.sock:/x',
    'unix:/run/some.sock',
    'http://%2frun%2fsome.sock/',
  ]) {
    const { status } = await ask(path, url)
    assert.ok(status === 400 || status === 403, `${url} ${status}`)
  }
  for (const authority of ['/run/some.sock', 'unix:/run/some.sock']) {
    const socket = await openSocket(t, path)
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: a\r\n\r\n`)
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    assert.match(chunk.toString(), /^HTTP\/1\.1 40[03] /, authority)
  }
})
