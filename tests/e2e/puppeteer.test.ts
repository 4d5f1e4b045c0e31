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

/** Who comes back while Chromium is still closing is cut off with it, and may come again. */
async function reconnect(browserWSEndpoint: string): Promise<Browser> {
  const deadline = performance.now() + 10_000
  for (;;) {
    try {
      const browser = await connect({ browserWSEndpoint })
      await browser.version()
      return browser
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
  }
}

test('over CDP a page is driven, and browser.close() does not end the session', async () => {
  const session = await browsers.create({ headless: true })
  const browser = await connect({ browserWSEndpoint: session.cdp_ws_url })
  const [page] = await browser.pages()
  await page!.goto(site.url)
  await page!.click('button')
  assert.equal(await page!.$eval('#out', (element) => element.textContent), 'clicked')
  // Sends Browser.close, which ends Chromium; it is started again, on the same address.
  await browser.close()

  const again = await reconnect(session.cdp_ws_url)
  const pages = await again.pages()
  assert.equal(pages.length, 1)
  assert.equal(await pages[0]!.evaluate('1 + 1'), 2)
  await again.disconnect()
  await browsers.deleteByID(session.session_id)
})

test('over BiDi a page is driven', async () => {
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
