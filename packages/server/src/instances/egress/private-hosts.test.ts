import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { ask, codeOf, startProxy } from '../../../../../tests/fixtures/egress.ts'
import { ownPrivateAddress } from '../../../../../tests/fixtures/private-address.ts'
import { newPrivateHostMatcher, readPrivateHost } from './private-hosts.ts'
import type { EgressRoute } from './route.ts'

const isDirect = (list: readonly string[] | undefined, host: string, port = 443) =>
  newPrivateHostMatcher(list)({ host, port })

test('an entry is a host, a domain, a private address or a CIDR in a private range', () => {
  for (const entry of [
    'intranet',
    'intranet.example',
    'Intranet.Example:8443',
    'host.berth.internal:3000',
    '*.corp.example',
    '*.corp.example:443',
    '*.corp.internal',
    '10.1.2.3',
    '10.1.2.3:8080',
    '0xa.1.2.3',
    '[fd00::1]',
    '[fd00::1]:8080',
    '10.0.0.0/8',
    '10.20.0.0/16',
    '172.16.0.0/12',
    '192.168.1.128/25',
    '100.64.0.0/10',
    'fc00::/7',
    'fd12:3456::/32',
    '10.1.2.3/32',
  ]) {
    assert.doesNotThrow(() => readPrivateHost(entry), entry)
  }
})

test('everything else is refused with its reason', () => {
  const refused: [entry: string, reason: RegExp][] = [
    ['http://intranet.example', /scheme/],
    ['intranet.example/path', /path/],
    ['10.0.0.0/8:80', /path/],
    ['[fd00::]/8', /brackets/],
    ['8.8.8.8', /private range/],
    ['8.8.8.0/24', /private range/],
    ['0.0.0.0', /private range/],
    ['0.0.0.0/0', /private range/],
    ['::/0', /private range/],
    ['10.0.0.0/7', /private range/],
    ['8.0.0.0/6', /private range/],
    ['fc00::/6', /private range/],
    ['127.0.0.1', /private range/],
    ['127.0.0.0/8', /private range/],
    ['[::1]', /private range/],
    ['[::]', /private range/],
    ['localhost', /loopback/],
    ['app.localhost', /loopback/],
    ['LOCALHOST:80', /loopback/],
    ['169.254.169.254', /private range/],
    ['169.254.0.0/16', /private range/],
    ['[fe80::1]', /private range/],
    ['fe80::/10', /private range/],
    ['172.16.0.0/11', /first address/],
    ['172.0.0.0/8', /private range/],
    ['10.0.0.1/8', /first address of its network: 10\.0\.0\.0\/8/],
    ['fd00::1/64', /first address of its network: fd00::\/64/],
    ['::ffff:10.0.0.0/104', /IPv4/],
    ['fd00::1', /brackets/],
    ['*', /one "\*\."/],
    ['*.*.example.com', /one "\*\."/],
    ['a.*.example.com', /one "\*\."/],
    ['*.com', /public suffix/],
    ['*.internal', /two labels/],
    ['*.co.uk', /public suffix/],
    ['*.github.io', /public suffix/],
    ['*.10.0.0.1', /two labels/],
    ['user@intranet.example', /must be a host/],
    ['intranet.example:0', /must be a host/],
    ['intranet.example:70000', /must be a host/],
    ['intranet example', /must be a host/],
    ['', /must be a host/],
    ['..', /must be a host/],
  ]
  for (const [entry, reason] of refused) {
    assert.throws(() => readPrivateHost(entry), { message: reason }, entry)
  }
})

test('without a list, addresses of the private ranges match and names never do', () => {
  for (const host of [
    '10.0.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '100.64.0.1',
    'fd00::1',
    '::ffff:10.0.0.1',
  ]) {
    assert.ok(isDirect(undefined, host), host)
    assert.ok(!isDirect([], host), `${host}, with an empty list`)
  }
  for (const host of ['8.8.8.8', '127.0.0.1', '::1', '169.254.1.1', 'intranet.example', 'localhost']) {
    assert.ok(!isDirect(undefined, host), host)
  }
})

test('a list matches what it names, on the port that it names', () => {
  assert.ok(isDirect(['intranet.example'], 'intranet.example'))
  assert.ok(!isDirect(['intranet.example'], 'a.intranet.example'))
  assert.ok(isDirect(['intranet.example:8443'], 'intranet.example', 8443))
  assert.ok(!isDirect(['intranet.example:8443'], 'intranet.example', 443))
  assert.ok(isDirect(['*.corp.example'], 'a.b.corp.example'))
  assert.ok(!isDirect(['*.corp.example'], 'corp.example'))
  assert.ok(!isDirect(['*.corp.example'], 'xcorp.example'))
  assert.ok(isDirect(['10.1.0.0/16'], '10.1.255.1'))
  assert.ok(!isDirect(['10.1.0.0/16'], '10.2.0.1'))
  assert.ok(isDirect(['[fd00::1]:80'], 'fd00::1', 80))
  assert.ok(!isDirect(['[fd00::1]:80'], 'fd00::1', 81))
  assert.ok(isDirect(['0xa.1.2.3'], '10.1.2.3'))
})

test('what is private for a session is reached without its proxy, and nothing else is', async (t) => {
  const { address, port, url } = await startPrivateSite(t)
  const proxy = await startNoting(t)
  const names: Record<string, string> = { 'intranet.example': address, 'other.example': address }
  const allow = [range(address), `intranet.example:${port}`, `other.example:${port}`]
  const lookup = async (name: string) => [names[name]!]
  const through: EgressRoute = {
    kind: 'proxy',
    proxy: { protocol: 'http', host: '127.0.0.1', port: proxy.port, isOperators: true },
    bypassHosts: [],
  }
  const { path, listener } = await startProxy(t, { allow, route: through, direct: { lookup } })
  const servedBy = async (target: string) => (await ask(path, target)).body
  const named = (name: string) => `http://${name}:${port}/`

  assert.equal(await servedBy(url), 'site', 'by default, a private address')
  assert.equal(await servedBy(named('intranet.example')), 'proxy', 'and no name')
  listener.setRoute({ ...through, privateHosts: [] })
  assert.equal(await servedBy(url), 'proxy', 'nothing is direct with an empty list')
  listener.setRoute({ ...through, privateHosts: ['intranet.example'] })
  assert.equal(await servedBy(url), 'proxy')
  assert.equal(await servedBy(named('intranet.example')), 'site')
  assert.equal(await servedBy(named('other.example')), 'proxy')
  listener.setRoute({ ...through, privateHosts: [range(address)] })
  assert.equal(await servedBy(url), 'site')
  assert.equal(await servedBy(named('intranet.example')), 'proxy', 'names are not resolved for it')
})

test('a list opens nothing that the operator has not opened', async (t) => {
  const { address, port, url } = await startPrivateSite(t)
  const proxy = await startNoting(t)
  const lookup = async () => [address]
  const privateHosts = [range(address), 'intranet.example']
  for (const route of [
    { kind: 'direct', privateHosts },
    {
      kind: 'proxy',
      proxy: { protocol: 'http', host: '127.0.0.1', port: proxy.port, isOperators: true },
      bypassHosts: [],
      privateHosts,
    },
  ] satisfies EgressRoute[]) {
    const { path } = await startProxy(t, { route, direct: { lookup } })
    for (const target of [url, `http://intranet.example:${port}/`]) {
      const { status, body } = await ask(path, target)
      assert.deepEqual([status, codeOf(body)], [403, 'egress_denied'], `${route.kind}: ${target}`)
    }
  }
  assert.deepEqual(proxy.seen, [], 'nor does the proxy get it')
})

test('without a proxy, a list closes the other private destinations', async (t) => {
  const { address, port, url } = await startPrivateSite(t)
  const allow = [range(address), `intranet.example:${port}`]
  const lookup = async () => [address]
  const { path, listener } = await startProxy(t, { allow, direct: { lookup } })
  const name = `http://intranet.example:${port}/`
  for (const target of [url, name]) assert.equal((await ask(path, target)).body, 'site')
  listener.setRoute({ kind: 'direct', privateHosts: ['intranet.example'] })
  assert.equal((await ask(path, name)).body, 'site')
  const refused = await ask(path, url)
  assert.equal(refused.status, 403)
  assert.match(refused.body, /network\.private_hosts of the session does not list it/)
  listener.setRoute({ kind: 'direct', privateHosts: [] })
  for (const target of [url, name]) assert.equal((await ask(path, target)).status, 403, target)
})

const range = (address: string) => (address.includes(':') ? `${address}/128` : `${address}/32`)

async function startPrivateSite(t: TestContext) {
  const address = ownPrivateAddress()
  const server = createServer((_request, response) => response.end('site'))
  server.listen(0, address)
  await once(server, 'listening')
  t.after(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { address, port, url: `http://${address.includes(':') ? `[${address}]` : address}:${port}/` }
}

/** A proxy that answers everything itself. */
async function startNoting(t: TestContext) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(request.url!)
    response.end('proxy')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  return { port: (server.address() as AddressInfo).port, seen }
}
