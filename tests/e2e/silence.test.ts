import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import { client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'
import { startSite } from '../fixtures/site.ts'
import { hostsAskedForWhileIdle, hostsIn } from './silence.ts'

// Chromium's own questions come within the first second, and again after 1, 3 and 9 where nobody answers.
// `npm run soak` waits longer.
test('a session that nobody uses asks for nothing', async (t) => {
  assert.deepEqual(await hostsAskedForWhileIdle(t, 6), [])
})

test('a session that visits a page asks for what the page asks for, and for nothing else', async (t) => {
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
  // What cannot be reached makes Chromium ask whether there is a network at all.
  await page.goto('https://10.0.0.1/').catch(() => {})
  await (await context.newPage()).goto(`${site.url}/popup`)
  await browser.close()
  assert.deepEqual([...new Set(hostsIn(server.output()))].toSorted(), ['10.0.0.1', 'host.berth.internal'])
})
