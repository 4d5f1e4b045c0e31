// What a page sees in a session is what it sees in a Chromium that a driver started on its own machine.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { chromium, type Browser, type Page } from 'playwright-core'
import { connect } from 'puppeteer-core'
import { client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'
import { startSite } from '../fixtures/site.ts'

const fileOwner = { after }
const site = await startSite(fileOwner)
const server = await startServer(fileOwner, { hasRealInstances: true, env: site.allow })
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
