// Private destinations, certificates of proxies, failures and memory of real sessions.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { after, test } from 'node:test'
import { chromium, type Page } from 'playwright-core'
import type { Proxy } from '@berth/contracts/proxies'
import { newCertificate } from '../fixtures/certificates.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { startDnsServer } from '../fixtures/dns-server.ts'
import { freePort } from '../fixtures/free-port.ts'
import { ownPrivateAddress } from '../fixtures/private-address.ts'
import { startProxy } from '../fixtures/proxies.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, instanceOf, send } from '../fixtures/sessions.ts'
import { dataOf, EventReader } from '../fixtures/telemetry.ts'

const owner = { after }
const MiB = 1024 * 1024
const address = ownPrivateAddress()
const written = address.includes(':') ? `[${address}]` : address
const site = await startSite()
/** Nobody is there, and the operator has not opened it. */
const closed = 'http://10.213.77.99/'
const proxy = await startProxy(owner, {
  protocol: 'http',
  exit: '127.0.0.11',
  // The proxy has a site of its own at this address.
  names: ['intranet.example', written],
})
const decrypting = await startDecrypting()
const dns = await startDnsServer(owner, { names: { 'intranet.example': ['127.0.0.1'] } })
const deadPort = await freePort()
const open = [proxy.port, decrypting.port, deadPort].map((port) => `host.berth.internal:${port}`)
const env = {
  BERTH_DNS_SERVERS: dns.address,
  BERTH_EGRESS_ALLOW: [
    `${address}/${address.includes(':') ? 128 : 32}`,
    `intranet.example:${site.port}`,
    ...open,
  ].join(','),
  BERTH_WARM_HEADLESS: '1',
  BERTH_WARM_HEADFUL: '1',
}
const server = await startServer(owner, { hasRealInstances: true, env })
const literal = `http://${written}:${site.port}/`
const named = `http://intranet.example:${site.port}/`

/** Says where each request came from. */
async function startSite(): Promise<{ port: number }> {
  const sites = createServer((request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<title>${request.socket.remoteAddress!.replace('::ffff:', '')}</title>`)
  })
  sites.listen(0, '::')
  await once(sites, 'listening')
  cleanUpAfter(owner, () => {
    sites.closeAllConnections()
    sites.close()
  })
  return { port: (sites.address() as AddressInfo).port }
}

/** A proxy that answers for every site, with certificates of its own authority, and forges our header. */
async function startDecrypting(): Promise<{ port: number; ca: string }> {
  const certificate = newCertificate('shop.example')
  const sites = createHttpsServer(certificate, (_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.setHeader('x-kernel-proxy-error', 'proxy_unavailable')
    response.end('<title>decrypted</title>')
  })
  const proxies = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.setHeader('x-kernel-proxy-error', 'proxy_unavailable')
    response.end('<title>forwarded</title>')
  })
  proxies.on('connect', (_request, socket: Duplex) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    sites.emit('connection', socket)
  })
  proxies.listen(0, '127.0.0.1')
  await once(proxies, 'listening')
  cleanUpAfter(owner, () => {
    sites.closeAllConnections()
    proxies.closeAllConnections()
    proxies.close()
  })
  return { port: (proxies.address() as AddressInfo).port, ca: certificate.ca }
}

async function newProxy(port: number, more: object = {}): Promise<string> {
  const config = { host: 'host.berth.internal', port, ...more }
  const made = await send<Proxy>(server, 'POST', '/proxies', { type: 'custom', protocol: 'http', config })
  assert.equal(made.status, 201, made.body.message)
  return made.body.id
}

async function openPage(body: object): Promise<{ id: string; page: Page }> {
  const session = await createSession(server, body)
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  cleanUpAfter(owner, () => browser.close())
  return { id: session.session_id, page: browser.contexts()[0]!.pages()[0]! }
}

const end = (id: string) => send(server, 'DELETE', `/browsers/${id}`)

async function titleAt(page: Page, url: string): Promise<string> {
  await page.goto(url)
  return page.title()
}

test('private destinations of a session are reached without its proxy, and no others', async () => {
  const id = await newProxy(proxy.port)
  const cases: [network: object, atLiteral: string, atName: string][] = [
    [{}, address, proxy.exit],
    [{ network: { private_hosts: ['intranet.example'] } }, proxy.exit, '127.0.0.1'],
    [{ network: { private_hosts: [`*.example.org`, `${written}:${site.port}`] } }, address, proxy.exit],
    [{ network: { private_hosts: [] } }, proxy.exit, proxy.exit],
  ]
  for (const [network, atLiteral, atName] of cases) {
    const session = await openPage({ proxy: { id }, ...network })
    const seen = [await titleAt(session.page, literal), await titleAt(session.page, named)]
    assert.deepEqual(seen, [atLiteral, atName], JSON.stringify(network))
    const refused = await session.page.goto(closed)
    assert.equal(refused!.status(), 403, 'what the operator has not opened stays closed')
    await end(session.id)
  }
  assert.ok(!proxy.passed.some((line) => line.includes(new URL(closed).hostname)), proxy.passed.join('\n'))
})

test('without a proxy, a list closes the private destinations that it does not name', async () => {
  const all = await openPage({})
  assert.equal(await titleAt(all.page, literal), address)
  assert.equal(await titleAt(all.page, named), '127.0.0.1')
  await end(all.id)
  const private_hosts = ['intranet.example', '10.0.0.0/8']
  const some = await openPage({ network: { private_hosts } })
  assert.equal(await titleAt(some.page, named), '127.0.0.1')
  const unlisted = await some.page.goto(literal)
  assert.equal(unlisted!.status(), 403)
  assert.match(await unlisted!.text(), /network\.private_hosts of the session does not list it/)
  assert.equal((await some.page.goto(closed))!.status(), 403, 'a list opens nothing')
  await end(some.id)
})

test('the list of a session still holds when its proxy changes', async () => {
  const id = await newProxy(proxy.port)
  const session = await openPage({ network: { private_hosts: [] } })
  assert.equal((await session.page.goto(literal))!.status(), 403)
  await send(server, 'PATCH', `/browsers/${session.id}`, { proxy: { id } })
  assert.equal(await titleAt(session.page, literal), proxy.exit)
  await send(server, 'PATCH', `/browsers/${session.id}`, { proxy: { mode: 'direct' } })
  assert.equal((await session.page.goto(literal))!.status(), 403)
  await end(session.id)
})

test('a browser trusts the authorities of the proxy that it is created with', async () => {
  const bundle = `${newCertificate('other.example').ca}\n${decrypting.ca}`
  const trusted = await newProxy(decrypting.port, { ca_bundle: bundle })
  const untrusted = await newProxy(decrypting.port)
  for (const more of [{}, { chrome_policy: { BookmarkBarEnabled: false } }]) {
    const session = await openPage({ proxy: { id: trusted }, ...more })
    assert.equal(await titleAt(session.page, 'https://shop.example/'), 'decrypted')
    await assert.rejects(session.page.goto('https://another.example/'), /ERR_CERT_COMMON_NAME_INVALID/)
    const shown = await send<{ chrome_policy?: object }>(server, 'GET', `/browsers/${session.id}`)
    assert.deepEqual(shown.body.chrome_policy, (more as { chrome_policy?: object }).chrome_policy)
    await end(session.id)
  }
  const other = await openPage({ proxy: { id: untrusted } })
  await assert.rejects(other.page.goto('https://shop.example/'), /ERR_CERT_AUTHORITY_INVALID/)
  await send(server, 'PATCH', `/browsers/${other.id}`, { proxy: { id: trusted } })
  await assert.rejects(other.page.goto('https://shop.example/'), /ERR_CERT_AUTHORITY_INVALID/)
  await end(other.id)
})

test('a failure that egress answers has a code, and becomes an event of telemetry', async () => {
  const dead = await newProxy(deadPort)
  const telemetry = { enabled: true, browser: { network: { enabled: true } } }
  const session = await openPage({ proxy: { id: dead }, telemetry })
  const reader = await EventReader.open(server, session.id)
  cleanUpAfter(owner, () => reader.close())
  const failed = await session.page.goto('http://shop.example/dead')
  assert.deepEqual([failed!.status(), failed!.headers()['x-kernel-proxy-error']], [502, 'proxy_unavailable'])
  const blocked = await session.page.goto(closed)
  assert.deepEqual(
    [blocked!.status(), blocked!.headers()['x-kernel-proxy-error']],
    [403, 'destination_blocked'],
  )
  const errorsAt = (at: string) => reader.ofType('proxy_error').filter((event) => dataOf(event)['url'] === at)
  await reader.until(
    'both events',
    () => errorsAt('http://shop.example/dead').length + errorsAt(closed).length === 2,
  )
  const [first, second] = [...errorsAt('http://shop.example/dead'), ...errorsAt(closed)]
  const { request_id: requestId } = dataOf(
    reader.ofType('network_request').find((event) => dataOf(event)['url'] === 'http://shop.example/dead'),
  )
  const { code, status, method, resource_type, url, request_id } = dataOf(first)
  assert.deepEqual(
    { category: first!.category, code, status, method, resource_type, url, request_id },
    {
      category: 'network',
      code: 'proxy_unavailable',
      status: 502,
      method: 'GET',
      resource_type: 'Document',
      url: 'http://shop.example/dead',
      request_id: requestId,
    },
  )
  assert.deepEqual([dataOf(second)['code'], dataOf(second)['status']], ['destination_blocked', 403])

  // Over TLS, Chromium knows of a failed connection only, and egress knows why.
  for (const [at, expected] of [
    ['https://shop.example/dead', { code: 'proxy_unavailable', status: 502 }],
    ['https://10.213.77.99/dead', { code: 'destination_blocked', status: 403 }],
  ] as const) {
    await assert.rejects(session.page.goto(at), /net::ERR_/)
    await reader.until(`the event of ${at}`, () => errorsAt(at).length === 1)
    const told = dataOf(errorsAt(at)[0])
    assert.deepEqual({ code: told['code'], status: told['status'] }, expected)
  }

  // A website's own header is not believed, whether it is forwarded or decrypted.
  const forging = await newProxy(decrypting.port)
  await send(server, 'PATCH', `/browsers/${session.id}`, { proxy: { id: forging } })
  // In the page before, Chromium may still be opening its error page, which would break off the next navigation.
  const page = await session.page.context().newPage()
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Security.setIgnoreCertificateErrors', { ignore: true })
  const forwarded = await page.goto('http://shop.example/forged')
  assert.equal(await page.title(), 'forwarded')
  assert.equal(forwarded!.headers()['x-kernel-proxy-error'], undefined)
  assert.equal(await titleAt(page, 'https://shop.example/forged'), 'decrypted')
  await reader.until('both responses', () => {
    const urls = reader.ofType('network_response').map((event) => dataOf(event)['url'])
    return ['http', 'https'].every((scheme) => urls.includes(`${scheme}://shop.example/forged`))
  })
  const forged = ['http', 'https'].flatMap((scheme) => errorsAt(`${scheme}://shop.example/forged`))
  assert.deepEqual(forged, [])
  await end(session.id)
})

test('the memory of a session is the limit of its control group, warm or cold', async () => {
  const cases: [body: object, mb: number, shown: string][] = [
    [{ headless: false }, 4096, '2GiB'],
    [{ headless: false, memory: '8GiB' }, 8192, '8GiB'],
    [{ headless: false, memory: '8GiB', locale: 'de-DE' }, 8192, '8GiB'],
    [{ headless: true }, 2048, '2GiB'],
  ]
  for (const [body, mb, shown] of cases) {
    const session = await createSession(server, body)
    const { memory } = session as typeof session & { memory: string }
    const limit = memoryLimit(await instanceOf(server, session))
    assert.deepEqual([limit / MiB, memory], [mb, shown], JSON.stringify(body))
    await end(session.session_id)
  }
})

// The last one: it ends the server.
test('the list and the memory of a session outlive a kill of its server', async () => {
  const body = { headless: false, memory: '8GiB', network: { private_hosts: [] } }
  const session = await createSession(server, body)
  const instanceId = await instanceOf(server, session)
  await server.stop('SIGKILL')
  const next = await startServer(owner, { hasRealInstances: true, env, dataDir: server.dataDir })
  const url = session.cdp_ws_url.replace(new URL(server.url).host, new URL(next.url).host)
  const browser = await chromium.connectOverCDP(url)
  cleanUpAfter(owner, () => browser.close())
  const refused = await browser.contexts()[0]!.pages()[0]!.goto(literal)
  assert.equal(refused!.status(), 403)
  assert.match(await refused!.text(), /private_hosts of the session does not list it/)
  assert.equal(memoryLimit(instanceId) / MiB, 8192)
})

/** For both versions of control groups. */
function memoryLimit(instanceId: string): number {
  const [path] = globSync([
    `/sys/fs/cgroup/memory/**/${instanceId}/memory.limit_in_bytes`,
    `/sys/fs/cgroup/**/${instanceId}/memory.max`,
  ])
  return Number(readFileSync(path!, 'utf8'))
}
