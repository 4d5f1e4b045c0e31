// What an agent asks before the kernel goes on with a connection.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { EGRESS_ASK_HOST } from '@berth/contracts/link'
import { descriptorOf } from '@berth/kit/descriptor-of'
import {
  ask as request,
  echo,
  listenOn,
  startProxy,
  startServer,
} from '../../../../../tests/fixtures/egress.ts'
import { CLOSED, DIRECT, type EgressRoute } from './route.ts'

const INSIDE = '240.0.0.1'

async function lookup(name: string): Promise<string[]> {
  if (name === 'local.example') return ['127.0.0.1']
  if (name === 'public.example' || name === 'listed.example') return ['1.2.3.4', '2600::1', '1.2.3.5']
  if (name === 'mixed.example') return ['1.2.3.4', '10.0.0.1']
  throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
}

/** A proxy that knows these names, with a socket for arrivals. */
async function start(t: TestContext, { allow = ['127.0.0.0/8'], route = DIRECT } = {}) {
  const proxy = await startProxy(t, { allow, route, direct: { lookup, connectMs: 300 } })
  const arrivals = createServer()
  const port = await listenOn(t, arrivals)
  proxy.listener.acceptArrivals({ fd: descriptorOf(arrivals)! })
  const ask = async (question: string): Promise<{ status: number; answer: Record<string, unknown> }> => {
    const { status, body } = await request(proxy.path, `http://${EGRESS_ASK_HOST}${question}`)
    return { status, answer: JSON.parse(body) as Record<string, unknown> }
  }
  const fateOf = async (target: string) =>
    (await ask(`/connections/${encodeURIComponent(target)}?to=${INSIDE}`)).answer['fate']
  return { ...proxy, ask, fateOf, port }
}

test('a name exists if it can be looked up, or if others look it up', async (t) => {
  const { ask, listener } = await start(t)
  const exists = async (name: string) => (await ask(`/names/${name}`)).answer['exists']
  assert.equal(await exists('public.example'), true)
  assert.equal(await exists('Local.Example'), true)
  assert.equal(await exists('host.berth.internal'), true)
  assert.equal(await exists('other.example'), false)
  const proxy = { protocol: 'socks5', host: '127.0.0.1', port: 1, isOperators: true } as const
  listener.setRoute({ kind: 'proxy', proxy, bypassHosts: ['own.example'] })
  assert.equal(await exists('other.example'), true)
  assert.equal(await exists('own.example'), false)
})

test('the addresses of a name are told if a connection to them is as good as one to the name', async (t) => {
  const { ask, listener } = await start(t, { allow: ['127.0.0.0/8', 'listed.example:25'] })
  const addressesOf = async (name: string) => (await ask(`/names/${name}`)).answer['addresses']
  assert.deepEqual(await addressesOf('public.example'), ['1.2.3.4', '1.2.3.5'])
  for (const name of ['local.example', 'mixed.example', 'listed.example', 'host.berth.internal', 'localhost'])
    assert.equal(await addressesOf(name), undefined, name)
  const proxy = { protocol: 'socks5', host: '127.0.0.1', port: 1, isOperators: true } as const
  listener.setRoute({ kind: 'proxy', proxy, bypassHosts: ['public.example'] })
  assert.equal(await addressesOf('public.example'), undefined, 'it would not be known to bypass the proxy')
})

test('a connection is accepted if the target answers, and otherwise gets what the target would give', async (t) => {
  const { fateOf } = await start(t)
  const server = await startServer(t, echo)
  const closed = createServer()
  const closedPort = await listenOn(t, closed)
  closed.close()
  await once(closed, 'close')
  assert.equal(await fateOf(`127.0.0.1:${server.port}`), 'accept')
  assert.equal(await fateOf(`127.0.0.1:${closedPort}`), 'refuse')
  assert.equal(server.connections(), 1)
})

test('what our own rules refuse is accepted, to be explained', async (t) => {
  const { fateOf, listener } = await start(t, { allow: [] })
  const server = await startServer(t, echo)
  assert.equal(await fateOf(`127.0.0.1:${server.port}`), 'accept')
  assert.equal(await fateOf('169.254.169.254:80'), 'accept')
  assert.equal(await fateOf(`local.example:${server.port}`), 'accept')
  assert.equal(server.connections(), 0)
  assert.match(listener.lastRefusal!, /local\.example/)
})

test('nothing is dialled before the first request through an HTTP proxy, unlike through SOCKS', async (t) => {
  const { fateOf, listener } = await start(t)
  const proxy = await startServer(t, (socket) => socket.end())
  const route = (protocol: 'http' | 'socks5'): EgressRoute => ({
    kind: 'proxy',
    proxy: { protocol, host: '127.0.0.1', port: proxy.port, isOperators: true },
    bypassHosts: [],
  })
  listener.setRoute(route('http'))
  assert.equal(await fateOf('a.example:80'), 'accept')
  assert.equal(proxy.connections(), 0)
  listener.setRoute(route('socks5'))
  assert.equal(await fateOf('a.example:80'), 'accept', 'the reason is explained')
  assert.equal(proxy.connections(), 1)
})

test('until the route was looked up, the agent is told to ask again; one that is not found is explained', async (t) => {
  const { ask, fateOf, listener } = await start(t, { route: CLOSED })
  for (const question of ['/names/public.example', `/connections/a.example:80?to=${INSIDE}`])
    assert.equal((await ask(question)).status, 503, question)
  listener.setRoute(CLOSED)
  assert.equal((await ask('/names/public.example')).answer['exists'], true)
  assert.equal(await fateOf('a.example:80'), 'accept')
  assert.match(listener.lastRefusal!, /route of the session is not known/)
})

test('questions that make no sense are refused', async (t) => {
  const { ask } = await start(t)
  for (const question of [
    '/',
    '/names',
    '/names/',
    '/names/a/b',
    '/names/%zz',
    '/names/%20',
    '/connections/a.example:80',
    '/connections/a.example:80?to=name',
    '/connections/a.example:80?to=%zz',
    '/connections/a.example?to=240.0.0.1',
    '/connections/a.example:0?to=240.0.0.1',
    '/other/a.example:80?to=240.0.0.1',
  ]) {
    const { status, answer } = await ask(question)
    assert.equal(status, 400, question)
    assert.equal(answer['code'], 'bad_request', question)
  }
})

test('why a connection failed is told for a moment', async (t) => {
  const { ask, fateOf, listener, path } = await start(t, { allow: [] })
  const failureAt = async (target: string) =>
    (await ask(`/failures/${encodeURIComponent(target)}`)).answer['failure']
  assert.equal(await failureAt('10.0.0.1:443'), undefined)
  await fateOf('10.0.0.1:443')
  assert.deepEqual(await failureAt('10.0.0.1:443'), { code: 'destination_blocked', status: 403 })
  assert.equal(await failureAt('10.0.0.1:80'), undefined)
  await ask('/names/other.example')
  assert.deepEqual(await failureAt('other.example:443'), { code: 'upstream_dns_failure', status: 502 })

  await ask('/names/public.example')
  const closed = createServer()
  const port = await listenOn(t, closed)
  closed.close()
  await once(closed, 'close')
  const proxy = { protocol: 'http', host: '127.0.0.1', port, isOperators: true } as const
  listener.setRoute({ kind: 'proxy', proxy, bypassHosts: [] })
  const { status, body } = await request(path, 'http://public.example/')
  assert.deepEqual([status, body.includes('cannot be reached')], [502, true])
  assert.deepEqual(await failureAt('public.example:80'), { code: 'provider_unreachable', status: 502 })
})
