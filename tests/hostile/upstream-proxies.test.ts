// Upstream proxies that lie, stall or flood, and routes that nothing may bypass. The test speaks to the egress of one
// instance as its browser would.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { pino } from 'pino'
import { EgressPolicy } from '@berth/server/instances/egress/policy'
import { EgressProxy } from '@berth/server/instances/egress/proxy'
import { ProxyUpstream } from '@berth/server/instances/egress/proxy-upstream'
import { CLOSED, DIRECT, type EgressRoute, type UpstreamProxy } from '@berth/server/instances/egress/route'
import { DirectUpstream } from '@berth/server/instances/egress/upstream'
import { newCertificate } from '../fixtures/certificates.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { startProxy } from '../fixtures/proxies.ts'
import { startWitness } from '../fixtures/witness.ts'

const HOST = '127.0.0.1'

async function startEgress(t: TestContext, allow: readonly string[] = ['127.0.0.0/8']) {
  const directory = await mkdtemp(join(tmpdir(), 'egress-'))
  const looked: string[] = []
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) })
  const lookup = (name: string) => {
    looked.push(name)
    return Promise.resolve(['127.0.0.1'])
  }
  const proxy = new EgressProxy({ policy: new EgressPolicy({ allow }), log, direct: { lookup } })
  const path = join(directory, 'egress.sock')
  const listener = await proxy.listen(path)
  cleanUpAfter(t, async () => {
    await listener.close()
    await rm(directory, { recursive: true })
  })
  return { listener, path, looked, logged }
}

/** An upstream proxy whose answers the test writes by hand. */
async function startRaw(t: TestContext, onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onSocket(socket)
  })
  server.listen(0, HOST)
  await once(server, 'listening')
  cleanUpAfter(t, async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port
}

function through(proxy: Partial<UpstreamProxy> & { port: number }, bypassHosts: string[] = []): EgressRoute {
  return { kind: 'proxy', proxy: { protocol: 'http', host: HOST, isOperators: false, ...proxy }, bypassHosts }
}

/** Resolves with the head of the answer. */
async function begin(path: string, url: string): Promise<IncomingMessage> {
  const sent = request({ socketPath: path, path: url, agent: false })
  sent.end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return answer
}

async function endOf(answer: IncomingMessage): Promise<{ status: number; body: string }> {
  return { status: answer.statusCode!, body: await text(answer).catch(() => 'cut off') }
}

async function get(path: string, url: string): Promise<{ status: number; body: string }> {
  return endOf(await begin(path, url))
}

async function tunnel(t: TestContext, path: string, authority: string) {
  const socket = connect({ path, allowHalfOpen: true })
  socket.on('error', () => {})
  cleanUpAfter(t, () => void socket.destroy())
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer]
  return { socket, status: Number(head.toString().split(' ')[1]), head: head.toString() }
}

const misbehaviours: Record<string, { protocol: UpstreamProxy['protocol']; act: (socket: Socket) => void }> =
  {
    'ends at once': { protocol: 'http', act: (socket) => socket.end() },
    resets: { protocol: 'http', act: (socket) => socket.resetAndDestroy() },
    'speaks another protocol': { protocol: 'http', act: (socket) => socket.end('SSH-2.0-OpenSSH\r\n\r\n') },
    'wants other credentials': {
      protocol: 'http',
      act: (socket) => socket.end('HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="x"\r\n\r\n'),
    },
    'answers 403 with a page': {
      protocol: 'http',
      act: (socket) => socket.end('HTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\nfalse'),
    },
    'sends an endless head': {
      protocol: 'http',
      act: (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        const flood = () => {
          while (socket.writable && socket.write(`X-Filler: ${'x'.repeat(8192)}\r\n`));
        }
        socket.on('drain', flood)
        flood()
      },
    },
    'speaks another SOCKS version': { protocol: 'socks5', act: (socket) => socket.end(Buffer.from([4, 0])) },
    'accepts no method': { protocol: 'socks5', act: (socket) => socket.write(Buffer.from([5, 0xff])) },
    'wants a password that was not given': {
      protocol: 'socks5',
      act: (socket) => socket.write(Buffer.from([5, 2])),
    },
    'ends in the middle of an answer': { protocol: 'socks5', act: (socket) => socket.end(Buffer.from([5])) },
    'refuses with a SOCKS error': {
      protocol: 'socks5',
      act: (socket) => socket.write(Buffer.from([5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0])),
    },
    'answers with an unknown address type': {
      protocol: 'socks5',
      act: (socket) => socket.write(Buffer.from([5, 0, 5, 0, 0, 9, 0, 0])),
    },
    'has no TLS': { protocol: 'https', act: (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n') },
  }

for (const [what, { protocol, act }] of Object.entries(misbehaviours)) {
  test(`a ${protocol} proxy that ${what} causes a refusal, and nothing takes another route`, async (t) => {
    const witness = await startWitness(t)
    const port = await startRaw(t, (socket) => socket.once('data', () => act(socket)))
    const { listener, path } = await startEgress(t)
    listener.setRoute(through({ protocol, port }))
    const { status, head } = await tunnel(t, path, `${HOST}:${witness.port}`)
    assert.equal(status, 502, head)
    assert.match(head, /the proxy of the session/)
    assert.ok(!head.includes(String(port)), 'pages are not told where it is')
    assert.equal(witness.connections.size, 0)
  })
}

test('a proxy that stalls times out at every step', async (t) => {
  const steps: [UpstreamProxy['protocol'], (socket: Socket) => void][] = [
    ['http', () => {}],
    ['http', (socket) => void socket.write('HTTP/1.1 200')],
    ['socks5', (socket) => void socket.write(Buffer.from([5]))],
    ['socks5', (socket) => void socket.write(Buffer.from([5, 0, 5, 0, 0, 3, 200]))],
    ['https', () => {}],
  ]
  for (const [protocol, act] of steps) {
    const closed = Promise.withResolvers<void>()
    const port = await startRaw(t, (socket) => {
      socket.once('data', () => act(socket))
      socket.once('close', closed.resolve)
      socket.once('end', () => socket.end())
    })
    const reach = new DirectUpstream({ policy: new EgressPolicy({ allow: ['127.0.0.0/8'] }) })
    const proxy = { protocol, host: HOST, port, isOperators: false }
    const upstream = new ProxyUpstream({ proxy, reach, handshakeMs: 100 })
    const attempt = upstream.connect({ host: 'a.example', port: 443 }, new AbortController().signal)
    await assert.rejects(attempt, { code: 'egress_timeout' }, protocol)
    await closed.promise
    // When the client leaves, it ends at once with the client's reason.
    const gone = new AbortController()
    const patient = new ProxyUpstream({ proxy, reach })
    const second = patient.connect({ host: 'a.example', port: 443 }, gone.signal)
    setTimeout(() => gone.abort(new Error('left')), 50)
    await assert.rejects(second, { message: 'left' })
  }
})

test('names are resolved by the proxy only, and private addresses stay closed', async (t) => {
  const witness = await startWitness(t)
  const names = ['hidden.example']
  for (const protocol of ['http', 'socks5'] as const) {
    const proxy = await startProxy(t, { protocol, exit: '127.0.0.31', names })
    const { listener, path, looked } = await startEgress(t, [`127.0.0.1:${proxy.port}`])
    listener.setRoute(through({ protocol, port: proxy.port }))
    const plain = await get(path, `http://hidden.example:${witness.port}/ip`)
    assert.deepEqual(plain, { status: 200, body: '127.0.0.31' })
    assert.equal((await tunnel(t, path, `hidden.example:${witness.port}`)).status, 200)
    assert.deepEqual(looked, [])
    const passed = proxy.passed.length
    const closed = ['127.0.0.1', '0x7f.1', '2130706433', '[::1]', '[::ffff:127.0.0.1]', 'localhost', 'a.localhost', '10.0.0.1', '169.254.169.254', '[fd00:ec2::254]', '100.64.0.1', '0', 'host.berth.internal'] // prettier-ignore
    for (const host of closed) {
      assert.equal((await get(path, `http://${host}:${witness.port}/`)).status, 403, host)
      assert.equal((await tunnel(t, path, `${host}:${witness.port}`)).status, 403, host)
    }
    assert.equal((await tunnel(t, path, 'hidden.example:25')).status, 403)
    assert.equal(proxy.passed.length, passed)
  }
})

test('a proxy at a private address is not reached, unless the operator configured it', async (t) => {
  const proxy = await startProxy(t, { protocol: 'http', exit: '127.0.0.31', names: ['a.example'] })
  const witness = await startWitness(t)
  const { listener, path } = await startEgress(t, [])
  for (const host of ['127.0.0.1', 'localhost', 'rebinds.example', '::ffff:7f00:1']) {
    listener.setRoute(through({ host, port: proxy.port }))
    const { status, body } = await get(path, `http://a.example:${witness.port}/ip`)
    assert.equal(status, 403, body)
    assert.match(body, /at an address that is not allowed/)
  }
  assert.deepEqual(proxy.passed, [])
  listener.setRoute(through({ host: '127.0.0.1', port: proxy.port, isOperators: true }))
  assert.equal((await get(path, `http://a.example:${witness.port}/ip`)).body, '127.0.0.31')
})

test('an https proxy needs a certificate for its name from a configured authority', async (t) => {
  const certificate = newCertificate('proxy.example')
  const witness = await startWitness(t)
  const login = { username: 'u', password: 'secret' }
  const proxy = await startProxy(t, {
    protocol: 'https',
    exit: '127.0.0.31',
    certificate,
    names: ['a.example'],
    ...login,
  })
  const { listener, path, looked } = await startEgress(t, [
    `proxy.example:${proxy.port}`,
    `other.example:${proxy.port}`,
  ])
  const at = { protocol: 'https' as const, port: proxy.port, ...login }
  const url = `http://a.example:${witness.port}/ip`
  for (const wrong of [
    { host: 'proxy.example' },
    { host: 'proxy.example', caBundle: newCertificate('proxy.example').ca },
    { host: 'other.example', caBundle: certificate.ca },
  ]) {
    listener.setRoute(through({ ...at, ...wrong }))
    const { status, body } = await get(path, url)
    assert.equal(status, 502, body)
    assert.match(body, /cannot be trusted/)
  }
  listener.setRoute(through({ ...at, host: 'proxy.example', caBundle: certificate.ca }))
  assert.equal((await get(path, url)).body, '127.0.0.31')
  assert.ok(looked.every((name) => name === 'proxy.example' || name === 'other.example'))
})

test('a change of route closes open connections, and moves pending ones to the new route', async (t) => {
  const witness = await startWitness(t)
  const target = `${HOST}:${witness.port}`
  const exits = ['127.0.0.31', '127.0.0.32'] as const
  const [first, second] = [
    await startProxy(t, { protocol: 'http', exit: exits[0] }),
    await startProxy(t, { protocol: 'socks5', exit: exits[1] }),
  ]
  const { listener, path } = await startEgress(t)
  listener.setRoute(through({ port: first.port }))
  const { socket } = await tunnel(t, path, target)
  // The answer must have begun; before that, a cut is a refusal instead.
  const endless = await begin(path, `http://${target}/endless`)
  // Never answers, so that both requests are pending when the route changes.
  const heads = new Set<string>()
  const bothArrived = Promise.withResolvers<void>()
  const stalled = await startRaw(t, (client) =>
    client.once('data', (head: Buffer) => {
      heads.add(head.toString().split(' ')[0]!)
      if (heads.has('CONNECT') && heads.has('GET')) bothArrived.resolve()
    }),
  )
  listener.setRoute(through({ port: stalled }))
  await once(socket, 'end')
  assert.equal((await endOf(endless)).body, 'cut off')
  const pending = tunnel(t, path, target)
  const plain = get(path, `http://${target}/ip`)
  await bothArrived.promise
  listener.setRoute(through({ protocol: 'socks5', port: second.port }))
  assert.equal((await pending).status, 200)
  // A plain request that was already sent is not sent twice.
  assert.equal((await plain).status, 502)
  assert.equal((await get(path, `http://${target}/ip`)).body, exits[1])

  listener.setRoute(CLOSED)
  const refused = await get(path, `http://${target}/ip`)
  assert.equal(refused.status, 502)
  assert.match(refused.body, /not known yet/)
  assert.equal(witness.connections.get('127.0.0.1'), undefined)
  listener.setRoute(DIRECT)
  assert.equal((await get(path, `http://${target}/ip`)).body, '127.0.0.1')
})

test('the bypass list matches exactly: a name, or names below a suffix', async (t) => {
  const witness = await startWitness(t)
  const names = ['a.example', 'b.a.example', 'xa.example', 'c.example', 'x.c.example', 'example']
  const proxy = await startProxy(t, { protocol: 'http', exit: '127.0.0.31', names })
  const { listener, path } = await startEgress(t, [
    `127.0.0.1:${proxy.port}`,
    ...names.map((name) => `${name}:*`),
  ])
  listener.setRoute(through({ port: proxy.port }, ['c.example', '*.a.example']))
  const seen = new Map<string, string>()
  for (const name of [...names, 'B.A.EXAMPLE', 'b.a.example.']) {
    seen.set(name, (await get(path, `http://${name}:${witness.port}/ip`)).body)
  }
  const direct = [...seen].filter(([, from]) => from === '127.0.0.1').map(([name]) => name)
  assert.deepEqual(direct, ['b.a.example', 'c.example', 'B.A.EXAMPLE', 'b.a.example.'])
})

test('credentials are sent only to the proxy', async (t) => {
  const heads: string[] = []
  const origin = await startRaw(t, (socket) => {
    socket.once('data', (chunk: Buffer) => {
      heads.push(chunk.toString())
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
  })
  const login = { username: 'harbour', password: 'master-of-ships' }
  const proxy = await startProxy(t, { protocol: 'http', exit: '127.0.0.31', ...login })
  const { listener, path, logged } = await startEgress(t)
  listener.setRoute(through({ port: proxy.port, ...login }))
  assert.equal((await get(path, `http://${HOST}:${origin}/`)).status, 200)
  const { socket } = await tunnel(t, path, `${HOST}:${origin}`)
  socket.write('GET / HTTP/1.1\r\n\r\n')
  await once(socket, 'data')
  assert.equal(heads.length, 2)
  assert.equal(proxy.refused(), 0)
  const secret = Buffer.from('harbour:master-of-ships').toString('base64')
  for (const place of [...heads, ...logged])
    assert.ok(!place.includes(secret) && !place.includes('master-of-ships'))
})
