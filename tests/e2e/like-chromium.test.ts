// What a page sees in a session is what it sees in a Chromium that a driver started on its own machine.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { chromium, type Browser, type Page } from 'playwright-core'
import { connect } from 'puppeteer-core'
import { client84 } from '../client/versions.ts'
import { startDnsServer } from '../fixtures/dns-server.ts'
import { startFailingSites } from '../fixtures/failing-sites.ts'
import { startProxy } from '../fixtures/proxies.ts'
import { startServer } from '../fixtures/server.ts'
import { startSite } from '../fixtures/site.ts'

const fileOwner = { after }
const site = await startSite(fileOwner)
const failing = await startFailingSites(fileOwner)
const proxy = await startProxy(fileOwner, {
  protocol: 'http',
  exit: '127.0.0.77',
  username: 'ada',
  password: 'secret',
  names: ['only-the-proxy-knows.example'],
})
const dns = await startDnsServer(fileOwner, {
  names: { 'public.example': ['1.2.3.4'], 'no-such-name.invalid': [] },
})
const allowed = [...Object.values(failing), proxy.port].map((port) => `host.berth.internal:${port}`)
const server = await startServer(fileOwner, {
  hasRealInstances: true,
  env: {
    BERTH_DNS_SERVERS: dns.address,
    BERTH_EGRESS_ALLOW: [site.allow.BERTH_EGRESS_ALLOW, ...allowed].join(),
  },
})
const { browsers } = client84(server)

const ONLINE_IN_WORKER = `new Promise((resolve) => {
  const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(navigator.onLine)'])))
  worker.onmessage = ({ data }) => resolve(data)
})`
/** A script of the page itself, because drivers run theirs as if somebody had clicked. */
const OPENING = `data:text/html,<script>opened = window.open('about:blank') !== null</script>`

for (const headless of [true, false]) {
  describe(headless ? 'headless' : 'headful', () => {
    let browser: Browser
    let page: Page
    before(async () => {
      const session = await browsers.create({ headless })
      browser = await chromium.connectOverCDP(session.cdp_ws_url)
      page = browser.contexts()[0]!.pages()[0]!
    })
    after(() => browser.close())

    test('pages and workers are online, until a client makes them offline', async () => {
      await page.goto(site.url)
      assert.equal(await page.evaluate('navigator.onLine'), true)
      assert.equal(await page.evaluate(ONLINE_IN_WORKER), true)
      await page.context().setOffline(true)
      assert.equal(await page.evaluate('navigator.onLine'), false)
      await page.context().setOffline(false)
      assert.equal(await page.evaluate('navigator.onLine'), true)
    })

    test('pages are not told that a program drives the browser', async () => {
      assert.equal(await page.evaluate('navigator.webdriver'), false)
    })

    /** Each in a page of its own: the error page of one load would interrupt the next. */
    async function load(
      url: string,
    ): Promise<{ status?: number; error?: string; failed?: string; text?: string }> {
      const fresh = await page.context().newPage()
      try {
        let failed: string | undefined
        fresh.on('requestfailed', (request) => (failed = request.failure()!.errorText))
        const answer = await fresh.goto(url).catch((error: Error) => error)
        if (!(answer instanceof Error)) return { status: answer!.status(), text: await answer!.text() }
        return { error: /ERR_\w+/.exec(answer.message)?.[0] ?? answer.message, ...(failed && { failed }) }
      } finally {
        await fresh.close()
      }
    }

    test('a site that fails causes the error that Chromium has for it', async () => {
      for (const [error, port] of Object.entries(failing)) {
        const expected = { error, failed: `net::${error}` }
        assert.deepEqual(await load(`http://host.berth.internal:${port}/`), expected)
      }
      const secure = {
        [failing['ERR_CONNECTION_REFUSED']!]: 'ERR_CONNECTION_REFUSED',
        [failing['ERR_CONNECTION_RESET']!]: 'ERR_CONNECTION_RESET',
        [site.port]: 'ERR_SSL_PROTOCOL_ERROR',
      }
      for (const [port, error] of Object.entries(secure)) {
        assert.equal((await load(`https://host.berth.internal:${port}/`)).error, error)
      }
      for (const scheme of ['http', 'https']) {
        assert.equal((await load(`${scheme}://no-such-name.invalid/`)).error, 'ERR_NAME_NOT_RESOLVED')
      }
    })

    test('what Berth itself refuses is explained', async () => {
      const { status, text } = await load('http://10.0.0.1/')
      assert.equal(status, 403)
      assert.match(text!, /"egress_denied"[^]*10\.0\.0\.1:80/)
      assert.equal((await load('https://10.0.0.1/')).error, 'ERR_CONNECTION_RESET')
    })

    test('a context has a proxy of its own, with credentials, under the same rules', async () => {
      const asked = proxy.passed.length
      const settings = {
        server: `http://host.berth.internal:${proxy.port}`,
        username: 'ada',
        password: 'secret',
      }
      const context = await browser.newContext({ proxy: settings })
      const proxied = await context.newPage()
      await proxied.goto(`http://only-the-proxy-knows.example:${site.port}/`)
      assert.equal(await proxied.title(), 'Home')
      assert.ok(proxy.passed.slice(asked).includes(`request only-the-proxy-knows.example:${site.port}`))
      await context.close()
      const forbidden = await browser.newContext({ proxy: { server: `http://127.0.0.1:9222` } })
      const stopped = await forbidden.newPage()
      await assert.rejects(stopped.goto('http://a.example/'), /ERR_PROXY_CONNECTION_FAILED/)
      await forbidden.close()
    })

    test('a site sees no trace of a proxy, and connections are used again', async () => {
      const first = site.connections()
      const answer = await page.goto(`${site.url}/headers`)
      const headers = (await answer!.json()) as Record<string, string>
      assert.equal(headers['connection'], 'keep-alive')
      assert.equal(headers['proxy-connection'], undefined)
      assert.equal(headers['via'], undefined)
      // The icon may have its own.
      await page.evaluate(`fetch('/icon').then((each) => each.text())`)
      const opened = site.connections()
      for (let round = 0; round < 3; round++)
        await page.evaluate(`fetch('/headers').then((each) => each.text())`)
      assert.equal(site.connections(), opened)
      assert.ok(opened - first <= 2)
    })

    test('a page opens a window without a click', async () => {
      const popup = page.waitForEvent('popup')
      await page.goto(OPENING)
      assert.equal(await page.evaluate('opened'), true)
      await (await popup).close()
    })

    test('screenshots of five tabs at once all succeed', async () => {
      for (let round = 0; round < 2; round++) {
        const context = await browser.newContext({ viewport: { width: 500, height: 500 } })
        const open = async () => {
          const tab = await context.newPage()
          await tab.goto(`${site.url}/popup`)
          return tab
        }
        const tabs = await Promise.all([open(), open(), open(), open(), open()])
        const pictures = await Promise.all(tabs.map((tab) => tab.screenshot()))
        assert.ok(pictures.every(({ length }) => length > 0))
        await context.close()
      }
    })
  })
}

test('a public name has its own address inside, which CDP and HAR show, and others have a stand-in', async () => {
  const { session_id: id } = await browsers.create({ headless: true })
  const names = ['public.example', 'host.berth.internal']
  const { stdout_b64 } = await browsers.process.exec(id, { command: 'getent', args: ['hosts', ...names] })
  const [own, standIn] = atob(stdout_b64!).split('\n')
  assert.match(own!, /^1\.2\.3\.4\s/)
  assert.match(standIn!, /^240\./)
  await browsers.deleteByID(id)
})

test('with Puppeteer, too, a page is online and opens a window without a click', async () => {
  const session = await browsers.create({ headless: true })
  const browser = await connect({ browserWSEndpoint: session.cdp_ws_url })
  const [page] = await browser.pages()
  await page!.goto(site.url)
  assert.equal(await page!.evaluate('navigator.onLine'), true)
  await page!.setOfflineMode(true)
  assert.equal(await page!.evaluate('navigator.onLine'), false)
  await page!.setOfflineMode(false)
  await page!.goto(OPENING)
  assert.equal(await page!.evaluate('opened'), true)
  await browser.disconnect()
  await browsers.deleteByID(session.session_id)
})
