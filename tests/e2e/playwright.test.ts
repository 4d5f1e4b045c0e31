// Stock Playwright drives real sessions on a local site.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { chromium, type Browser } from 'playwright-core'
import { client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'
import { startSite } from '../fixtures/site.ts'

const fileOwner = { after }
const site = await startSite(fileOwner)
const server = await startServer(fileOwner, { hasRealInstances: true, env: site.allow })
const { browsers } = client84(server)

for (const headless of [true, false]) {
  describe(headless ? 'headless' : 'headful', () => {
    test('Playwright navigates, clicks and types, with popup, frame, worker, socket and download', async () => {
      const session = await browsers.create({ headless })
      const browser = await chromium.connectOverCDP(session.cdp_ws_url)
      try {
        const page = browser.contexts()[0]!.pages()[0]!
        assert.equal(page.url(), 'about:blank')
        await page.goto(site.url)
        assert.equal(await page.title(), 'Home')
        await page.click('button')
        assert.equal(await page.textContent('#out'), 'clicked')
        await page.fill('#text', 'ahoy 🙂')
        assert.equal(await page.inputValue('#text'), 'ahoy 🙂')
        assert.equal(await page.frame('inner')!.textContent('h2'), 'Inside')

        const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('#popup')])
        assert.equal(await popup.textContent('h1'), 'Popped up')
        await popup.close()

        const [download] = await Promise.all([page.waitForEvent('download'), page.click('#file')])
        assert.equal(download.suggestedFilename(), 'cargo.bin')

        await page.goto(`${site.url}/worker`)
        await page.waitForFunction('document.title === "worker says 42"')
        await page.goto(`${site.url}/socket`)
        await page.waitForFunction('document.title === "echo ahoy"')
        const { width, height } = (await page.evaluate(
          '({ width: window.innerWidth, height: window.innerHeight })',
        )) as { width: number; height: number }
        assert.ok(width === 1920 && height > (headless ? 1000 : 800) && height <= 1080, `${width}x${height}`)
      } finally {
        await browser.close()
      }
      await browsers.deleteByID(session.session_id)
    })

    test('a client that reconnects finds its page, and several clients work in parallel', async () => {
      const session = await browsers.create({ headless })
      const connect = (): Promise<Browser> => chromium.connectOverCDP(session.cdp_ws_url)
      const first = await connect()
      const page = first.contexts()[0]!.pages()[0]!
      await page.goto(site.url)
      await page.evaluate('globalThis.kept = 42')
      await first.close()

      const [second, third] = await Promise.all([connect(), connect()])
      for (const browser of [second, third]) {
        assert.equal(await browser.contexts()[0]!.pages()[0]!.evaluate('globalThis.kept'), 42)
      }
      await second.close()
      assert.equal(await third.contexts()[0]!.pages()[0]!.evaluate('globalThis.kept'), 42)
      await third.close()
      await browsers.deleteByID(session.session_id)
    })
  })
}

test('a result of 50 MB arrives', async () => {
  const session = await browsers.create({ headless: true })
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  const length = 50 * 1024 * 1024
  const text = await browser.contexts()[0]!.pages()[0]!.evaluate(`'x'.repeat(${length})`)
  assert.equal((text as string).length, length)
  await browser.close()
  await browsers.deleteByID(session.session_id)
})

test('connectOverCDP also accepts the http address', async () => {
  const session = await browsers.create({ headless: true })
  const browser = await chromium.connectOverCDP(session.cdp_ws_url.replace(/^ws/, 'http'))
  assert.equal(await browser.contexts()[0]!.pages()[0]!.evaluate('1 + 1'), 2)
  await browser.close()
  await browsers.deleteByID(session.session_id)
})

test('start_url is opened, and the viewport is as requested and can be changed', async () => {
  const session = await browsers.create({
    headless: true,
    viewport: { width: 1024, height: 768 },
    start_url: `${site.url}/popup`,
  })
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  const page = browser.contexts()[0]!.pages()[0]!
  await page.waitForURL(`${site.url}/popup`)
  const size = () => page.evaluate('[window.innerWidth, window.innerHeight]')
  assert.deepEqual(await size(), [1024, 768])
  await browsers.update(session.session_id, { viewport: { width: 800, height: 600 } })
  await page.waitForFunction('window.innerWidth === 800 && window.innerHeight === 600')
  await browser.close()
  await browsers.deleteByID(session.session_id)
})

test('a start_url that is no website is dropped, and a change opens another', async () => {
  for (const start_url of [
    'chrome://version',
    'file:///etc/passwd',
    'not a url',
    'javascript:location="about:srcdoc"',
  ]) {
    const session = await browsers.create({ headless: true, start_url })
    assert.equal(session.start_url, start_url)
    const browser = await chromium.connectOverCDP(session.cdp_ws_url)
    const page = browser.contexts()[0]!.pages()[0]!
    const changed: { start_url?: string } = await browsers.update(session.session_id, {
      start_url: `${site.url}/popup`,
    } as object)
    assert.equal(changed.start_url, `${site.url}/popup`)
    await page.waitForURL(`${site.url}/popup`)
    // Commands are in order, so the page before it was the empty one.
    const cdp = await page.context().newCDPSession(page)
    const { entries } = await cdp.send('Page.getNavigationHistory')
    assert.deepEqual(
      entries.map(({ url }) => url),
      ['about:blank', `${site.url}/popup`],
    )
    await browser.close()
    await browsers.deleteByID(session.session_id)
  }
})
