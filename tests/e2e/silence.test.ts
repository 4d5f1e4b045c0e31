// Chromium contacts no host on its own: not while it is unused, and not beside the pages that it visits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import { client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'
import { startSite } from '../fixtures/site.ts'
import { hostsAskedForWhileIdle, hostsIn } from './silence.ts'

// Chromium's own requests come within the first second, and again after 1, 3 and 9 s without an answer. `npm run
// soak` waits longer.
test('an unused session contacts no host', async (t) => {
  assert.deepEqual(await hostsAskedForWhileIdle(t, 6), [])
})

test('a session that visits a page contacts only the hosts of the page', async (t) => {
  const site = await startSite(t)
  const server = await startServer(t, {
    hasRealInstances: true,
    env: { ...site.allow, BERTH_LOG_LEVEL: 'debug' },
  })
  const session = await client84(server).browsers.create({ headless: true })
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  const context = browser.contexts()[0]!
  const page = context.pages()[0]!
  await page.goto(site.url)
  await page.fill('#text', 'somebody@example.com')
  await page.click('button')
  // An unreachable host makes Chromium check whether there is a network.
  await page.goto('https://10.0.0.1/').catch(() => {})
  await (await context.newPage()).goto(`${site.url}/popup`)
  await browser.close()
  assert.deepEqual([...new Set(hostsIn(server.output()))].toSorted(), ['10.0.0.1', 'host.berth.internal'])
})
