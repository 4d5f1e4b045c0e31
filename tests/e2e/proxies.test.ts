// Proxies of real sessions: all traffic uses them, none bypasses them, and they can change under open pages. Every
// proxy has its own exit address, which the site sees; 127.0.0.1 would be a direct connection.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { chromium, type Page } from 'playwright-core'
import { client84 } from '../client/versions.ts'
import { begin, connect, read } from '../fixtures/auth-connections.ts'
import { newCertificate } from '../fixtures/certificates.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { freePort } from '../fixtures/free-port.ts'
import { eventually } from '../fixtures/host.ts'
import { startProxy } from '../fixtures/proxies.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { createSession, query, send } from '../fixtures/sessions.ts'
import { startWitness } from '../fixtures/witness.ts'
import { ownAddresses, startCanaries } from '../hostile/host-canaries.ts'

const owner = { after }
const DIRECT = '127.0.0.1'
const login = { username: 'harbour', password: 'master-of-ships' }
const certificate = newCertificate('host.berth.internal', 'only-the-proxy-knows.example')
const plain = await startWitness(owner)
const secure = await startWitness(owner, certificate)
const canaries = await startCanaries(owner)
const names = ['only-the-proxy-knows.example']
const http = await startProxy(owner, { protocol: 'http', exit: '127.0.0.11', ...login, names })
const https = await startProxy(owner, { protocol: 'https', exit: '127.0.0.12', ...login, names, certificate })
const socks5 = await startProxy(owner, { protocol: 'socks5', exit: '127.0.0.13', ...login, names })
const operators = await startProxy(owner, {
  protocol: 'http',
  exit: '127.0.0.14',
  username: 'stealth-us',
  password: 'operator',
})

const providers = join(tempDir(owner), 'providers.json')
writeFileSync(
  providers,
  JSON.stringify({
    // The operator's own network; sessions cannot configure it.
    stealth_default: {
      url: `http://127.0.0.1:${operators.port}`,
      username: 'stealth-us',
      password: 'operator',
    },
    isp: {
      url: `http://127.0.0.1:${operators.port}`,
      username: 'stealth-us',
      password: 'operator',
      where: { country: 'DE' },
    },
  }),
)
/** A port without a listener. */
const deadPort = await freePort()
const open = [plain, secure, http, https, socks5].map(({ port }) => `host.berth.internal:${port}`)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: {
    BERTH_EGRESS_ALLOW: [...open, `host.berth.internal:${deadPort}`].join(','),
    BERTH_PROXY_PROVIDERS: providers,
    BERTH_WARM_HEADLESS: '1',
  },
})
const { browsers, proxies } = client84(server)

async function newProxy(proxy: typeof http, extra: object = {}): Promise<string> {
  return (await proxies.create({ ...proxy.definition, ...extra } as never)).id!
}

async function openPage(body: object): Promise<{ id: string; page: Page }> {
  const session = await createSession(server, body)
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  cleanUpAfter(owner, () => browser.close())
  const page = browser.contexts()[0]!.pages()[0]!
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Security.setIgnoreCertificateErrors', { ignore: true })
  return { id: session.session_id, page }
}

/** The address from which the site saw a request of the page. */
const seenFrom = (page: Page, site: { url: string }) =>
  page.evaluate<string>(`fetch(${JSON.stringify(`${site.url}/ip`)}).then((answer) => answer.text())`)

for (const proxy of [http, https, socks5]) {
  test(`all traffic of a session uses its ${proxy.protocol} proxy, which resolves the names`, async () => {
    const before = [plain, secure].map(({ connections }) => connections.get(DIRECT) ?? 0)
    const { id, page } = await openPage({
      proxy_id: await newProxy(proxy),
      start_url: `${plain.url}/started-by-${proxy.protocol}`,
    })
    await eventually('the start URL arrives', () =>
      plain.visits.some(({ path }) => path === `/started-by-${proxy.protocol}`),
    )
    // Otherwise it would interfere.
    await page.waitForURL(`${plain.url}/started-by-${proxy.protocol}`)
    await page.goto(`${plain.url}/`)
    assert.equal(await page.title(), proxy.exit)
    assert.equal(await seenFrom(page, secure), proxy.exit)
    await page.goto(`https://only-the-proxy-knows.example:${secure.port}/`)
    assert.equal(await page.title(), proxy.exit, 'a name that this machine cannot resolve')
    await page.goto(`http://only-the-proxy-knows.example:${plain.port}/`)
    assert.equal(await page.title(), proxy.exit)
    const echoed = await page.evaluate<string>(
      `new Promise((resolve) => {
         const socket = new WebSocket('ws://only-the-proxy-knows.example:${plain.port}/echo')
         socket.onopen = () => socket.send('where from?')
         socket.onmessage = (event) => resolve(event.data)
       })`,
    )
    assert.equal(echoed, proxy.exit, 'websockets too')
    const curled = await browsers.curl(id, { url: `${plain.url}/ip` })
    assert.match(JSON.stringify(curled), new RegExp(proxy.exit))
    const ran = await browsers.process.exec(id, { command: 'curl', args: ['-sS', `${plain.url}/ip`] })
    assert.equal(atob(ran.stdout_b64 ?? ''), proxy.exit, 'programs of the session too')

    // Private addresses stay closed, whichever proxy is used.
    for (const url of [`http://127.0.0.1:${canaries.port}`, `http://10.0.0.1`, 'http://169.254.169.254']) {
      const refused = await browsers.curl(id, { url }).then(
        ({ status }) => status,
        () => 403,
      )
      assert.ok(refused === 403 || refused === 502, `${url}: ${refused}`)
    }
    assert.ok(
      proxy.passed.every((line) => !/ (127\.|10\.|169\.)/.test(line)),
      proxy.passed.join('\n'),
    )
    assert.deepEqual(
      [plain, secure].map(({ connections }) => connections.get(DIRECT) ?? 0),
      before,
      'no request came directly',
    )
    await browsers.deleteByID(id)
  })
}

test('a proxy changes under open pages and kept-alive connections, and nothing bypasses it', async () => {
  const [first, second] = [await newProxy(http), await newProxy(socks5)]
  const { id, page } = await openPage({ proxy_id: first })
  await page.goto(`${plain.url}/`)
  assert.equal(await seenFrom(page, secure), http.exit)
  // An endless answer, a socket, and a tunnel that the browser keeps open.
  await page.evaluate(`{
    globalThis.cut = []
    globalThis.isOpen = false
    fetch('${secure.url}/endless').then((answer) => answer.text()).catch(() => cut.push('answer'))
    const socket = new WebSocket('ws://host.berth.internal:${plain.port}/echo')
    socket.onopen = () => { globalThis.isOpen = true }
    socket.onclose = () => cut.push('socket')
    // The page keeps sending requests.
    globalThis.seen = []
    globalThis.isAsking = true
    const ask = async (url) => {
      while (isAsking) await fetch(url).then((answer) => answer.text()).then((from) => seen.push(from), () => {})
    }
    for (const url of ['${plain.url}/ip', '${secure.url}/ip']) ask(url)
    void 0
  }`)
  await page.waitForFunction('isOpen && seen.length > 20')
  await eventually('connections are kept', () => http.open() >= 2)
  const directBefore = [plain, secure].map(({ connections }) => connections.get(DIRECT))

  const startedAt = performance.now()
  const changed = await browsers.update(id, { proxy_id: second })
  const tookMs = performance.now() - startedAt
  assert.equal(changed.proxy_id, second)
  assert.ok(tookMs < 2_000, `it took ${tookMs} ms`)
  await eventually('nothing passes the old one any more', () => http.open() === 0, 1_000)
  const passedBefore = http.passed.length
  await page.waitForFunction(`cut.includes('answer') && cut.includes('socket')`)
  const seen = await page.evaluate<number>('seen.length')
  await page.waitForFunction(`seen.length > ${seen + 40}`)
  const seenSince = await page.evaluate<string[]>(`seen.slice(${seen + 20})`)
  assert.deepEqual([...new Set(seenSince)], [socks5.exit])
  assert.equal(await seenFrom(page, secure), socks5.exit, 'the same page, without a reload')
  assert.equal(http.passed.length, passedBefore, 'not one request more')
  const directNow = [plain, secure].map(({ connections }) => connections.get(DIRECT))
  assert.deepEqual(directNow, directBefore, 'and none without a proxy')

  // Without a proxy, the same page connects directly.
  assert.equal((await browsers.update(id, { proxy_id: '' })).proxy_id, undefined)
  await eventually('nothing passes the last one any more', () => socks5.open() === 0, 1_000)
  assert.equal(await seenFrom(page, plain), DIRECT)
  await browsers.update(id, { proxy_id: first })
  assert.equal(await seenFrom(page, plain), http.exit)
  await page.evaluate('isAsking = false')
  await browsers.deleteByID(id)
})

test('only hosts of the bypass list are reached directly', async () => {
  const proxy_id = await newProxy(http, { bypass_hosts: ['host.berth.internal', '*.knows.example'] })
  const { id, page } = await openPage({ proxy_id })
  await page.goto(`${plain.url}/`)
  assert.equal(await page.title(), DIRECT)
  await page.goto(`http://only-the-proxy-knows.example:${plain.port}/`)
  assert.equal(await page.title(), http.exit)
  await browsers.deleteByID(id)
})

test('a proxy that is dead or refuses its credentials causes a navigation error, and nothing bypasses it', async () => {
  const refusing = await newProxy(http, { config: { ...http.definition.config, password: 'wrong-password' } })
  const dead = await newProxy(http, { config: { ...http.definition.config, port: deadPort } })
  const before = [plain, secure].map(({ visits }) => visits.length)
  const { id, page } = await openPage({ proxy_id: refusing })
  const expected = { [refusing]: /refuses its credentials/, [dead]: /cannot be reached/ }
  for (const [proxy_id, reason] of Object.entries(expected)) {
    await browsers.update(id, { proxy_id })
    const answer = await page.goto(`${plain.url}/`)
    assert.equal(answer!.status(), 502)
    const text = await answer!.text()
    assert.match(text, reason)
    assert.ok(!text.includes(String(http.port)) && !text.includes(String(deadPort)), text)
    const other = await page.context().newPage()
    await assert.rejects(other.goto(`${secure.url}/`), /ERR_CONNECTION_RESET/)
    await other.close()
  }
  assert.deepEqual(
    [plain, secure].map(({ visits }) => visits.length),
    before,
  )
  await browsers.deleteByID(id)
})

test('a stealth session appears to be where its proxy is', async () => {
  const proxy_id = (await proxies.create({ type: 'isp', config: { country: 'DE' } })).id!
  const { id, page } = await openPage({ proxy_id, stealth: true })
  await page.goto(`${plain.url}/`)
  assert.equal(await page.title(), operators.exit)
  const seen = await page.evaluate(
    '[navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, (1.5).toLocaleString()]',
  )
  assert.deepEqual(seen, ['de-DE', 'Europe/Berlin', '1,5'])
  assert.match(plain.visits.findLast(({ path }) => path === '/')?.languages ?? '', /^de-DE,de;q=0\.9/)
  await browsers.deleteByID(id)
})

test('neither WebRTC nor DNS bypasses the proxy', async () => {
  const { id, page } = await openPage({ proxy_id: await newProxy(http) })
  await page.goto(`${plain.url}/`)
  const hosts = ['127.0.0.1', '[::1]', 'host.berth.internal', ...ownAddresses()]
  const servers = hosts.flatMap((host) => [
    { urls: `stun:${host}:${canaries.port}` },
    { urls: `turn:${host}:${canaries.port}?transport=udp`, username: 'u', credential: 'c' },
    { urls: `turn:${host}:${canaries.port}?transport=tcp`, username: 'u', credential: 'c' },
  ])
  const candidates = await page.evaluate<string[]>(
    `new Promise((resolve) => {
       const found = []
       const connection = new RTCPeerConnection({ iceServers: ${JSON.stringify(servers)} })
       connection.onicecandidate = ({ candidate }) => candidate && found.push(candidate.candidate)
       connection.onicegatheringstatechange = () =>
         connection.iceGatheringState === 'complete' && resolve(found)
       connection.createDataChannel('x')
       connection.createOffer().then((offer) => connection.setLocalDescription(offer))
       setTimeout(() => resolve(found), 3000)
     })`,
  )
  assert.ok(!candidates.some((line) => / udp .* typ (srflx|relay)/.test(line)), candidates.join('\n'))
  // Only the proxy knows this name; a lookup here would fail.
  await page.goto(`http://only-the-proxy-knows.example:${plain.port}/`)
  assert.equal(await page.title(), http.exit)
  const looked = await browsers.process.exec(id, {
    command: 'bash',
    args: [
      '-c',
      `getent hosts only-the-proxy-knows.example | cut -d. -f1; echo x > /dev/udp/127.0.0.1/${canaries.port} || true`,
    ],
  })
  assert.equal(atob(looked.stdout_b64 ?? ''), '240\n', 'it has a stand-in, which says nothing')
  assert.equal(canaries.touches(), 0)
  await browsers.deleteByID(id)
})

test('a stealth session chooses between the default proxy, another one and none', async () => {
  const own = await newProxy(http)
  const choices: [proxy: object | undefined, exit: string][] = [
    [undefined, operators.exit],
    [{ mode: 'default' }, operators.exit],
    [{ mode: 'direct' }, DIRECT],
    [{ id: own }, http.exit],
  ]
  for (const [proxy, exit] of choices) {
    const { id, page } = await openPage({ stealth: true, ...(proxy && { proxy }) })
    await page.goto(`${plain.url}/`)
    assert.equal(await page.title(), exit, JSON.stringify(proxy))
    if (exit !== http.exit) {
      await browsers.update(id, { proxy: { mode: 'direct' } } as object)
      assert.equal(await seenFrom(page, plain), DIRECT)
      await browsers.update(id, { proxy: { mode: 'default' } } as object)
      assert.equal(await seenFrom(page, plain), operators.exit)
    }
    await browsers.deleteByID(id)
  }
})

test('a stealth session uses the default proxy of the operator, unless it opts out', async () => {
  const { id, page } = await openPage({})
  await page.goto(`${plain.url}/`)
  assert.equal(await page.title(), DIRECT)
  for (const body of [{ disable_default_proxy: true }, { disable_default_proxy: true, proxy_id: '' }]) {
    await assert.rejects(browsers.update(id, body), { status: 400 })
  }
  // Sessions cannot be created this way yet; from here on it behaves like one.
  await query(server, 'UPDATE browsers SET stealth = true, is_default_proxy_disabled = true WHERE id = $1', [
    id,
  ])
  await browsers.update(id, { disable_default_proxy: false })
  assert.equal(await seenFrom(page, plain), operators.exit)
  const own = await newProxy(http)
  await browsers.update(id, { proxy_id: own })
  assert.equal(await seenFrom(page, plain), http.exit, 'its own goes before')
  await browsers.update(id, { proxy_id: '' })
  assert.equal(await seenFrom(page, plain), operators.exit)
  await browsers.update(id, { disable_default_proxy: true })
  assert.equal(await seenFrom(page, plain), DIRECT)
  await assert.rejects(browsers.update(id, { disable_default_proxy: false, proxy_id: own }), { status: 400 })
  await browsers.deleteByID(id)
})

test('the browser of a login has the default proxy, a proxy of the project, or none', async () => {
  const ways: [object, string][] = [
    [{}, operators.exit],
    [{ proxy: { mode: 'default' } }, operators.exit],
    [{ proxy: { mode: 'direct' } }, DIRECT],
    [{ stealth: false }, DIRECT],
    [{ proxy: { id: await newProxy(http) } }, http.exit],
  ]
  for (const [options, exit] of ways) {
    const { id } = await connect(server, `host.berth.internal:${plain.port}`, { browser: options })
    const before = new Map(plain.connections)
    const seen = () =>
      [...plain.connections].filter(([from, count]) => count > (before.get(from) ?? 0)).map(([from]) => from)
    await begin(server, id)
    await eventually('the site is visited', () => seen().length > 0, 30_000)
    assert.deepEqual(seen(), [exit], JSON.stringify(options))
    const { browser_session_id: session } = await read(server, id)
    assert.equal((await send(server, 'POST', `/auth/connections/${id}/cancel`)).status, 200)
    // Until then it may visit the site.
    await eventually('its session has ended', async () => {
      return (await send(server, 'GET', `/browsers/${session}`)).status === 404
    })
  }
})
