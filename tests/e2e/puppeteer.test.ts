// Stock Puppeteer, over CDP and over WebDriver BiDi.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { connect, type Browser } from 'puppeteer-core'
import { client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'
import { startSite } from '../fixtures/site.ts'

const fileOwner = { after }
const site = await startSite(fileOwner)
const server = await startServer(fileOwner, { hasRealInstances: true, env: site.allow })
const { browsers } = client84(server)

test('over CDP Puppeteer drives a page, and browser.close() does not end the session', async () => {
  const session = await browsers.create({ headless: true })
  const browser = await connect({ browserWSEndpoint: session.cdp_ws_url })
  const [page] = await browser.pages()
  await page!.goto(site.url)
  await page!.click('button')
  assert.equal(await page!.$eval('#out', (element) => element.textContent), 'clicked')
  // Sends Browser.close, which ends Chromium; it is restarted at the same address.
  await browser.close()

  const again = await connect({ browserWSEndpoint: session.cdp_ws_url })
  const pages = await again.pages()
  assert.equal(pages.length, 1)
  assert.equal(await pages[0]!.evaluate('1 + 1'), 2)
  await again.disconnect()
  await browsers.deleteByID(session.session_id)
})

test('a client that reconnects right after browser.close() is never disconnected, whatever was open', async () => {
  const session = await browsers.create({ headless: true })
  const hung = 'data:text/html,<title>hung</title><script>setTimeout(() => { for (;;); }, 50)</script>'
  const holding = 'data:text/html,<script>onbeforeunload = (event) => event.preventDefault()</script>'
  const leave: Record<string, (browser: Browser) => Promise<unknown>> = {
    nothing: async () => {},
    'many tabs': (browser) => Promise.all(Array.from({ length: 8 }, () => browser.newPage())),
    'a second context': async (browser) => (await browser.createBrowserContext()).newPage(),
    'a page that hangs': async (browser) => (await browser.newPage()).goto(hung),
    'a page that asks to stay': async (browser) => (await browser.newPage()).goto(holding),
  }
  let browser = await connect({ browserWSEndpoint: session.cdp_ws_url })
  for (const [round, [what, open]] of Array(4).fill(Object.entries(leave)).flat().entries()) {
    await open(browser)
    await browser.close()
    browser = await connect({ browserWSEndpoint: session.cdp_ws_url })
    let isCutOff = false
    browser.once('disconnected', () => (isCutOff = true))
    const [page, ...others] = await browser.pages()
    assert.equal(await page!.evaluate('6 * 7'), 42, `round ${round}, ${what}`)
    assert.deepEqual(others, [], `round ${round}, ${what}`)
    assert.ok(!isCutOff, `round ${round}, ${what}`)
  }
  await browser.disconnect()
  await browsers.deleteByID(session.session_id)
})

test('over BiDi, too, a new client can follow browser.close() at once', async () => {
  const session = await browsers.create({ headless: true })
  for (let round = 0; round < 4; round++) {
    const browser = await connect({
      browserWSEndpoint: session.webdriver_ws_url,
      protocol: 'webDriverBiDi',
    })
    const page = await browser.newPage()
    assert.equal(await page.evaluate('6 * 7'), 42, `round ${round}`)
    await browser.close()
  }
  await browsers.deleteByID(session.session_id)
})

test('over BiDi Puppeteer drives a page', async () => {
  const session = await browsers.create({ headless: true })
  const browser = await connect({
    browserWSEndpoint: session.webdriver_ws_url,
    protocol: 'webDriverBiDi',
  })
  const page = await browser.newPage()
  await page.goto(site.url)
  assert.equal(await page.title(), 'Home')
  await page.click('button')
  assert.equal(await page.$eval('#out', (element) => element.textContent), 'clicked')
  await browser.disconnect()
  await browsers.deleteByID(session.session_id)
})
