import assert from 'node:assert/strict'
import { once } from 'node:events'
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, Agent, request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { pino } from 'pino'
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
import { EgressPolicy } from './policy.ts'
import { EgressProxy } from './proxy.ts'
import { EgressRefusal } from './refusal.ts'

test('a tunnel carries bytes both ways, including those sent before it was open', async (t) => {
  const server = await startServer(t, echo)
  const cases = [
    { allow: `host.berth.internal:${server.port}`, host: 'host.berth.internal' },
    { allow: 'host.berth.internal:*', host: 'Host.Berth.Internal.' },
    { allow: '127.0.0.0/8', host: '127.0.0.1' },
    { allow: '127.0.0.0/8', host: '[::ffff:127.0.0.1]' },
    { allow: '127.0.0.0/8', host: 'localhost' },
    { allow: '127.0.0.0/8', host: 'app.localhost' },
    { allow: `127.0.0.1:${server.port}`, host: '0x7f.1' },
  ]
  for (const { allow, host } of cases) {
    const { path } = await startProxy(t, { allow: [allow] })
    const socket = await openSocket(t, path)
    socket.end(`CONNECT ${host}:${server.port} HTTP/1.1\r\nHost: a\r\n\r\nearly`)
    assert.equal(await readUntil(socket, '\r\n\r\n'), 'HTTP/1.1 200 Connection Established', host)
    assert.equal(await readAll(socket), 'early', host)
  }
})

test('either side of a tunnel may end its half first and still receives the rest', async (t) => {
  const speaksLast = await startServer(
    t,
    (socket) => void readAll(socket).then((text) => socket.end(`got ${text}`)),
  )
  const speaksFirst = await startServer(t, (socket) => socket.end('hello'))
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const first = await openTunnel(t, path, `127.0.0.1:${speaksLast.port}`)
  first.socket.end('all of it')
  assert.equal(await readAll(first.socket), 'got all of it')
  const second = await openTunnel(t, path, `127.0.0.1:${speaksFirst.port}`)
  assert.equal(await readUntil(second.socket, 'lo'), 'hel')
  await once(second.socket.resume(), 'end')
  second.socket.end('late words')
  await once(second.socket, 'close')
})

test('a half-ended, silent tunnel is cut', async (t) => {
  const silent = await startServer(t, (socket) => socket.resume())
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'], limits: { halfOpenMs: 20 } })
  const { socket } = await openTunnel(t, path, `127.0.0.1:${silent.port}`)
  socket.end()
  await once(socket.resume(), 'close')
})

test('when one side of a tunnel breaks, the other is closed', async (t) => {
  const accepted = Promise.withResolvers<Socket>()
  const server = await startServer(t, (socket) => accepted.resolve(socket.resume()))
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const { socket } = await openTunnel(t, path, `127.0.0.1:${server.port}`)
  ;(await accepted.promise).resetAndDestroy()
  await once(socket.resume(), 'end')
})

test('answers 502 when resolving or connecting fails, and 504 on a timeout', async (t) => {
  const closed = await startServer(t, echo, { address: '127.0.0.2' })
  const { path } = await startProxy(t, {
    allow: ['127.0.0.0/8'],
    direct: {
      lookupMs: 20,
      lookup: (name) =>
        name === 'slow.example' ? new Promise(() => undefined) : Promise.reject(new Error(name)),
    },
  })
  for (const [host, status, code] of [
    ['absent.example', 502, 'egress_failed'],
    [`127.0.0.3:${closed.port}`, 502, 'egress_failed'],
    ['slow.example', 504, 'egress_timeout'],
  ] as const) {
    const answer = await ask(path, `http://${host}/`)
    assert.deepEqual([answer.status, codeOf(answer.body)], [status, code], host)
    assert.match(
      String(answer.headers['proxy-status']),
      /^berth; error=(destination_unavail|connection_timeout)/,
    )
    const tunnel = await openTunnel(t, path, host.includes(':') ? host : `${host}:443`)
    assert.deepEqual([tunnel.status, codeOf(tunnel.body)], [status, code], host)
  }
})

test('a refusal names the host and the reason', async (t) => {
  const { path } = await startProxy(t)
  const { headers, body } = await ask(path, 'http://10.0.0.1/')
  assert.equal(headers['content-type'], 'application/json')
  assert.deepEqual(JSON.parse(body), {
    code: 'egress_denied',
    message: 'Cannot reach "10.0.0.1:80": it is an address that is not public (private)',
  })
})

test('a plain request arrives with its own headers and without those for the proxy', async (t) => {
  const server = createHttpServer((incoming, response) => {
    response.writeHead(201, 'Made', [
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'X-Answer',
      'yes',
      'Connection',
      'X-Private',
      'X-Private',
      'no',
      'Proxy-Authenticate',
      'Basic',
      'Keep-Alive',
      'timeout=1',
    ])
    response.end(JSON.stringify({ method: incoming.method, url: incoming.url, raw: incoming.rawHeaders }))
  })
  const port = await listenOn(t, server)
  const { path } = await startProxy(t, { allow: [`host.berth.internal:${port}`] })
  const answer = await ask(path, `http://HOST.berth.internal:${port}/a/../b?c=%20d`, {
    headers: {
      Host: 'evil.example',
      Accept: '*/*',
      'Proxy-Connection': 'keep-alive',
      'X-Hop': '1',
      Connection: 'keep-alive, X-Hop',
      TE: 'trailers',
      'Keep-Alive': 'timeout=5',
      Cookie: 'a=b',
      Upgrade: 'h2c',
      'HTTP2-Settings': 'x',
    },
  })
  assert.equal(answer.status, 201)
  assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2'])
  assert.equal(answer.headers['x-answer'], 'yes')
  for (const name of ['x-private', 'proxy-authenticate']) assert.equal(answer.headers[name], undefined, name)
  assert.deepEqual(JSON.parse(answer.body), {
    method: 'GET',
    url: '/a/../b?c=%20d',
    raw: ['Host', `host.berth.internal:${port}`, 'Accept', '*/*', 'Cookie', 'a=b', 'Connection', 'close'],
  })
})

test('bodies arrive framed as they were sent, or not at all', async (t) => {
  const server = createHttpServer((incoming, response) => {
    const { 'content-length': length, 'transfer-encoding': coding } = incoming.headers
    void readAll(incoming).then((body) => response.end(JSON.stringify({ length, coding, body })))
  })
  const port = await listenOn(t, server)
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const url = `http://127.0.0.1:${port}/`
  const sent = async (options: Parameters<typeof ask>[2]) =>
    JSON.parse((await ask(path, url, options)).body) as unknown
  assert.deepEqual(await sent({}), { body: '' })
  assert.deepEqual(await sent({ method: 'POST' }), { length: '0', body: '' })
  assert.deepEqual(await sent({ method: 'POST', body: 'abc', headers: { 'content-length': 3 } }), {
    length: '3',
    body: 'abc',
  })
  const chunked = {
    method: 'PUT',
    body: 'abc',
    headers: { 'transfer-encoding': 'chunked', expect: '100-continue' },
  }
  assert.deepEqual(await sent(chunked), { coding: 'chunked', body: 'abc' })
  assert.equal((await ask(path, url, { method: 'HEAD' })).body, '')
})

test('consecutive requests share a connection to the proxy', async (t) => {
  const server = createHttpServer((incoming, response) => response.end(incoming.url))
  const port = await listenOn(t, server)
  const { path, listener } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  for (const name of ['/1', '/2', '/3']) {
    const sent = request({ socketPath: path, path: `http://127.0.0.1:${port}${name}`, agent })
    sent.end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    assert.equal(await readAll(answer), name)
    assert.equal(sent.reusedSocket, name !== '/1')
  }
  assert.ok(listener.traffic.sent > 0)
})

test('an answer that breaks off also breaks off for the client; a missing one is 502 or 504', async (t) => {
  const raw = await startServer(t, (socket) => {
    socket.once('data', (data) => {
      const name = data.toString().split(' ')[1]
      if (name === '/short') socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc')
      if (name === '/chunk') socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n')
      if (name === '/close') socket.end()
      if (name === '/reset') socket.resetAndDestroy()
      if (name === '/nonsense') socket.end('nonsense\r\n\r\n')
      if (name === '/upgrade')
        socket.end('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      if (name === '/status') socket.end('HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n')
      if (name === '/headers') socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(300_000)}\r\n\r\n`)
    })
  })
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const hasty = await startProxy(t, { allow: ['127.0.0.0/8'], limits: { answerMs: 30 } })
  const url = (name: string) => `http://127.0.0.1:${raw.port}/${name}`
  for (const name of ['short', 'chunk'])
    await assert.rejects(ask(path, url(name)), { code: 'ECONNRESET' }, name)
  for (const name of ['close', 'reset', 'nonsense', 'upgrade', 'status', 'headers']) {
    assert.equal((await ask(path, url(name))).status, 502, name)
  }
  assert.equal((await ask(hasty.path, url('silent'))).status, 504)
})

test('an answer before the end of the body reaches the client, and the rest of the body is dropped', async (t) => {
  const server = await startServer(t, (socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno'))
  })
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const socket = await openSocket(t, path)
  socket.write(
    `POST http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc`,
  )
  assert.match(await readAll(socket), /^HTTP\/1\.1 413 Too Large\r\n[^]*\r\n\r\nno$/)
})

test('when a client disconnects, its connection to the target is closed', async (t) => {
  const accepted = Promise.withResolvers<Socket>()
  const server = await startServer(t, (socket) => accepted.resolve(socket.resume()))
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const socket = await openSocket(t, path)
  socket.write(`GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`)
  const outside = await accepted.promise
  socket.destroy()
  await once(outside, 'end')
})

test('close ends tunnels and requests, removes the socket, and can be repeated', async (t) => {
  const server = await startServer(t, echo)
  const silent = await startServer(t, (socket) => socket.resume())
  const { path, listener } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const { socket } = await openTunnel(t, path, `127.0.0.1:${server.port}`)
  const waiting = assert.rejects(ask(path, `http://127.0.0.1:${silent.port}/`), { code: 'ECONNRESET' })
  const idle = await openSocket(t, path)
  socket.write('x')
  await once(socket, 'data')
  const ends = [once(socket, 'end'), once(idle.resume(), 'end'), waiting]
  await Promise.all([listener.close(), listener.close(), listener[Symbol.asyncDispose]()])
  await Promise.all(ends)
  await assert.rejects(access(path), { code: 'ENOENT' })
})

test('replaces the socket of a dead server and nothing else', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'egress-'))
  t.after(() => rm(directory, { recursive: true }))
  const proxy = new EgressProxy({ policy: new EgressPolicy({ allow: [] }), log: pino({ level: 'silent' }) })
  const path = join(directory, 'egress.sock')
  await using first = await proxy.listen(path)
  await using second = await proxy.listen(path)
  assert.equal((await ask(path, 'http://10.0.0.1/')).status, 403)
  assert.deepEqual([first.traffic.sent > 0, second.traffic.sent > 0], [false, true])
  const file = join(directory, 'file')
  await writeFile(file, 'precious')
  await assert.rejects(proxy.listen(file), { code: 'EADDRINUSE' })
  await access(file)
})

test('a new upstream is used at once, under the same policy, and tunnels of the old one end', async (t) => {
  const server = await startServer(t, echo)
  const { path, listener } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const before = await openTunnel(t, path, `127.0.0.1:${server.port}`)
  const asked: string[] = []
  listener.setUpstream({
    connectForRequest: () => assert.fail('no plain request is sent'),
    connect: async ({ host, port }) => {
      asked.push(`${host}:${port}`)
      if (port === 1) throw new EgressRefusal('egress_failed', 'Cannot reach the upstream proxy')
      return new PassThrough()
    },
  })
  const { socket } = await openTunnel(t, path, 'a.example:443')
  socket.end('through the other')
  assert.equal(await readAll(socket), 'through the other')
  assert.equal((await openTunnel(t, path, 'a.example:1')).status, 502)
  assert.equal((await openTunnel(t, path, '10.0.0.1:443')).status, 403)
  assert.deepEqual(asked, ['a.example:443', 'a.example:1'])
  assert.equal(await readAll(before.socket), '')
})
