// Tests of a website, in the session that CDP_WS_URL leads to. SITE_URL says where the website is.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'

const site = process.env['SITE_URL'] ?? 'https://example.com'
const browser = await chromium.connectOverCDP(process.env['CDP_WS_URL']!)
const page = browser.contexts()[0]!.pages()[0]!
after(() => browser.close())

test('the start page says whose it is', async () => {
  await page.goto(site)
  assert.equal(await page.title(), 'Example Domain')
})

test('the start page leads on', async () => {
  await page.goto(site)
  await page.getByRole('link').first().click()
  await page.waitForURL((url) => url.href !== new URL(site).href)
})
