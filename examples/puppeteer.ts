// Prints a page to a PDF with Puppeteer, and lists what the page loaded.
//
//   node puppeteer.ts https://example.com
import Kernel from '@onkernel/sdk'
import { connect } from 'puppeteer-core'

const address = process.argv[2] ?? 'https://example.com'
const berth = new Kernel()
const session = await berth.browsers.create({ headless: true })
try {
  const browser = await connect({ browserWSEndpoint: session.cdp_ws_url })
  const page = (await browser.pages())[0]!
  page.on('response', (response) => console.log(response.status(), response.url()))
  await page.goto(address, { waitUntil: 'networkidle2' })
  await page.pdf({ path: 'page.pdf', printBackground: true })
  console.log(await page.title(), 'is in page.pdf')
  await browser.disconnect() // close() would close Chromium, which Berth then starts again
} finally {
  await berth.browsers.deleteByID(session.session_id)
}
