// Opens a page with Playwright, prints its title and its links, and keeps a picture of it.
//
//   node playwright.ts https://example.com
import Kernel from '@onkernel/sdk'
import { chromium } from 'playwright-core'

const address = process.argv[2] ?? 'https://example.com'
const berth = new Kernel() // reads KERNEL_BASE_URL and KERNEL_API_KEY
const session = await berth.browsers.create({ headless: true })
try {
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  const page = browser.contexts()[0]!.pages()[0]!
  await page.goto(address)
  console.log(await page.title())
  for (const link of await page.getByRole('link').all()) {
    console.log(`- ${await link.innerText()}: ${await link.getAttribute('href')}`)
  }
  await page.screenshot({ path: 'page.png', fullPage: true })
  await browser.close() // closes the connection; the session goes on
} finally {
  await berth.browsers.deleteByID(session.session_id)
}
