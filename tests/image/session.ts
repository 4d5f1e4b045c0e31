// Runs beside a container, in its network: one whole session with the published client, headless and headful. Prints what
// it found as JSON. Arguments: URL and key of the server.
import Kernel from 'kernel-sdk-0-84'
import { chromium } from 'playwright-core'

const [baseURL, apiKey] = process.argv.slice(2) as [string, string]
const client = new Kernel({ baseURL, apiKey })

const found = []
for (const headless of [true, false]) {
  const session = await client.browsers.create({ headless })
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  const page = browser.contexts()[0]!.pages()[0]!
  await page.setContent('<h1>Berth</h1><p lang="ja">日本語</p>')
  const title = await page.locator('h1').innerText()
  const whoami = await client.browsers.process.exec(session.session_id, { command: 'id', args: ['-un'] })
  await browser.close()
  await client.browsers.deleteByID(session.session_id)
  found.push({
    headless,
    title,
    user: Buffer.from(whoami.stdout_b64 ?? '', 'base64')
      .toString()
      .trim(),
  })
}
console.log(JSON.stringify(found))
