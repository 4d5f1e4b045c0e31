// Connections that arrive from an instance's network. Here a function says where they were going, instead of the kernel.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { pino } from 'pino'
import { echo, listenOn, readAll, readUntil, startServer } from '../../../../../tests/fixtures/egress.ts'
import { eventually } from '../../../../../tests/fixtures/host.ts'
import { Arrivals } from './arrivals.ts'
import { Exchange } from './exchanges.ts'
import { Outgoing } from './outgoing.ts'
import { EgressPolicy } from './policy.ts'
import type { EgressRoute } from './route.ts'
import { joinStreams } from './tunnel.ts'
import { DirectUpstream } from './upstream.ts'

const INSIDE = '240.0.0.1'
const lookup = async () => ['1.2.3.4']
const through = (port: number): EgressRoute => ({
  kind: 'proxy',
  proxy: { protocol: 'http', host: '127.0.0.1', port, isOperators: true },
  bypassHosts: [],
})

async function start(t: TestContext, { allow = ['127.0.0.0/8'] } = {}) {
  const policy = new EgressPolicy({ allow })
  const direct = new DirectUpstream({ policy, lookup })
  const outgoing = new Outgoing({ policy, direct, route: { kind: 'direct' }, log: pino({ level: 'silent' }) })
  const served: IncomingMessage[] = []
  const http = createHttpServer((request, response) => {
    served.push(request)
    response.end()
  })
  let places = 0
  const arrivals = new Arrivals({
    outgoing,
    maxConnections: 8,
    onSocket: (socket) => socket.on('error', () => {}),
    join: (socket, outside) => joinStreams(socket, outside, { halfOpenMs: 1_000, share: noShare }),
    serveRequests: (socket) => http.emit('connection', socket),
    destinationOf: () => ({ address: INSIDE, port: asked }),
  })
  const listening = createServer()
  const port = await listenOn(t, listening)
  // SAFETY: Node takes the socket of a server, which then accepts nothing itself.
  arrivals.listen(listening as unknown as { fd: number })
  t.after(() => {
    arrivals.close()
    outgoing.close()
    http.closeAllConnections()
  })
  let asked = 0
  const exchange = () => {
    places++
    return new Exchange({ [Symbol.dispose]: () => void places-- })
  }
  const decide = async (host: string, to: number, given = exchange()) => {
    asked = to
    const fate = await arrivals.decide({ host, port: to }, INSIDE, given)
    // As the question does when it is answered.
    given.end()
    return fate
  }
  const arrive = (): Socket => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    t.after(() => socket.destroy())
    return socket
  }
  return { arrivals, outgoing, served, decide, arrive, exchange, places: () => places }
}
const noShare = { sent: undefined, received: undefined }

/** Resolves when the other side has cut the connection. */
async function isReset(socket: Socket): Promise<boolean> {
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  return error.code === 'ECONNRESET'
}

test('a connection is joined with the one that was dialled for it, and keeps its place until it closes', async (t) => {
  const { decide, arrive, places } = await start(t)
  const server = await startServer(t, echo)
  assert.equal(await decide('127.0.0.1', server.port), 'accept')
  assert.equal(places(), 1, 'the place of the question is that of the connection')
  const socket = arrive()
  socket.end('hello')
  assert.equal(await readAll(socket), 'hello')
  assert.equal(server.connections(), 1)
  await eventually('no place is taken', () => places() === 0)
})

test('one that nobody asked about is cut, and so is the second for one question', async (t) => {
  const { decide, arrive } = await start(t)
  assert.equal(await isReset(arrive()), true)
  const server = await startServer(t, echo)
  assert.equal(await decide('127.0.0.1', server.port), 'accept')
  const first = arrive()
  first.write('a')
  assert.equal(await readUntil(first, 'a'), '')
  assert.equal(await isReset(arrive()), true)
})

test('a target that has gone again is not given to the next connection', async (t) => {
  const { decide, arrive, places } = await start(t)
  const dialled: Socket[] = []
  const gone = await startServer(t, (socket) => dialled.push(socket))
  assert.equal(await decide('127.0.0.1', gone.port), 'accept')
  await eventually('it is dialled', () => dialled.length === 1)
  dialled[0]!.resetAndDestroy()
  await eventually('no place is taken', () => places() === 0)
  assert.equal(await isReset(arrive()), true)
})

test('nothing waits for a question whose sender left, nor after the end', async (t) => {
  const { arrivals, decide, exchange, places } = await start(t)
  const server = await startServer(t, echo)
  const left = exchange()
  left.end()
  assert.notEqual(await decide('127.0.0.1', server.port, left), 'accept')
  assert.equal(await decide('127.0.0.1', server.port), 'accept')
  assert.equal(places(), 1)
  arrivals.close()
  assert.equal(places(), 0)
  assert.equal(await decide('127.0.0.1', server.port), 'refuse')
  assert.equal(places(), 0)
})

test('what our rules refuse is explained to plain HTTP, and cut otherwise', async (t) => {
  const { decide, arrive, places } = await start(t, { allow: [] })
  const talk = async (text: string) => {
    assert.equal(await decide('10.0.0.1', 80), 'accept')
    const socket = arrive()
    if (text) socket.write(text)
    return socket
  }
  assert.match(await readAll(await talk('GET / HTTP/1.1\r\n\r\n')), /^HTTP\/1\.1 403 [^]*egress_denied/)
  assert.equal(await isReset(await talk('\x16\x03\x01')), true)
  assert.equal(await isReset(await talk('')), true, 'who waits for the other side')
  await eventually('no place is taken', () => places() === 0)
})

test('behind an HTTP proxy, requests go to it one by one and everything else in a tunnel', async (t) => {
  const { arrivals, outgoing, decide, arrive, served, places } = await start(t)
  const heads: string[] = []
  const tunnel = async (socket: Socket) => {
    const head = await readUntil(socket, '\r\n\r\n')
    heads.push(head.split('\r\n')[0]!)
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    echo(socket)
  }
  const proxy = await startServer(t, (socket) => void tunnel(socket))
  outgoing.setRoute(through(proxy.port))
  const first = async (text: string, port = 8080) => {
    assert.equal(await decide('a.example', port), 'accept')
    const socket = arrive()
    if (text) socket.write(text)
    return socket
  }
  const plain = await first('GET /path HTTP/1.1\r\nHost: a.example\r\n\r\n')
  assert.match(await readUntil(plain, '\r\n\r\n'), /^HTTP\/1\.1 200/)
  assert.deepEqual(arrivals.targetOf(served[0]!), { host: 'a.example', port: 8080, path: '/path' })
  assert.equal(places(), 0, 'each request has its own place')
  const { socket: arrived, headers } = served[0]!
  const next = { socket: arrived, headers, url: 'ocalhost://x/' } as IncomingMessage
  assert.throws(() => arrivals.targetOf(next), { code: 'bad_request' })
  for (const text of [
    '\x16\x03\x01-',
    'GET http://b.example/ HTTP/1.1\r\n\r\n-',
    'GET / HTTP/1.1\r\nUpgrade: x\r\n\r\n-',
  ]) {
    const socket = await first(text)
    assert.equal(await readUntil(socket, '-'), text.slice(0, -1))
    socket.destroy()
  }
  // The other side speaks first.
  const silent = await first('')
  await eventually('four tunnels', () => heads.length === 4)
  silent.destroy()
  assert.deepEqual(
    heads,
    Array.from({ length: 4 }, () => 'CONNECT a.example:8080 HTTP/1.1'),
  )
})

test('a request on a connection to an address has the name that it says, if the port is the same', async (t) => {
  const { arrivals, outgoing, decide, arrive, served } = await start(t)
  outgoing.setRoute(through(1))
  const expected = { 'mail.localhost:8080': 'mail.localhost', 'other.example': '127.0.0.1' }
  for (const [host, name] of Object.entries(expected)) {
    assert.equal(await decide('127.0.0.1', 8080), 'accept')
    const socket = arrive()
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    assert.match(await readUntil(socket, '\r\n\r\n'), /^HTTP\/1\.1 200/)
    assert.deepEqual(arrivals.targetOf(served.at(-1)!), { host: name, port: 8080, path: '/' })
  }
  const { socket } = served.at(-1)!
  const broken = { socket, headers: { host: 'a b' }, url: '/' } as IncomingMessage
  assert.throws(() => arrivals.targetOf(broken), { code: 'bad_request' })
})

test('a proxy gets the name of an address that the instance got before', async (t) => {
  const { outgoing, decide, arrive } = await start(t)
  const { signal } = new AbortController()
  assert.deepEqual(await outgoing.addressesOf('a.example', signal), ['1.2.3.4'])
  assert.deepEqual(outgoing.asNamed({ host: '1.2.3.4', port: 443 }), { host: '1.2.3.4', port: 443 })
  const heads: string[] = []
  const refuse = async (socket: Socket) => {
    heads.push(await readUntil(socket, '\r\n'))
    socket.end()
  }
  const proxy = await startServer(t, (socket) => void refuse(socket))
  outgoing.setRoute(through(proxy.port))
  for (const host of ['1.2.3.4', '1.2.3.5']) {
    assert.equal(await decide(host, 443), 'accept')
    const socket = arrive()
    socket.write('\x16')
    await isReset(socket)
  }
  assert.deepEqual(heads, ['CONNECT a.example:443 HTTP/1.1', 'CONNECT 1.2.3.5:443 HTTP/1.1'])
})
