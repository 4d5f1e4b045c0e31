// Sessions reach the zoo's sites under every kind of host name, and the browser treats them as different sites.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'
import { crossOriginFrame } from '../fixtures/login-zoo/sites/cross-origin-frame.ts'
import { classicForm } from '../fixtures/login-zoo/sites/classic-form.ts'
import { startZoo } from '../fixtures/login-zoo/zoo.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession } from '../fixtures/sessions.ts'

const owner = { after }
const hosts = ['localhost', '127.0.0.1']
const zoo = await startZoo(owner, [
  crossOriginFrame,
  ...hosts.map((host) => ({ ...classicForm, name: host, host })),
])
const server = await startServer(owner, { hasRealInstances: true, env: zoo.allow })

test('a session signs in at each site, and no other site gets its cookies', async () => {
  const session = await createSession(server)
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  try {
    const page = browser.contexts()[0]!.pages()[0]!
    for (const site of zoo.sites) {
      const right = site.description.variants[0]!
      await page.goto(site.url)
      await site.description.walk(page, site.person(right))
      await page.waitForSelector('text=Ada Harbour')
      assert.deepEqual(site.signedIn, ['ada'], site.host)
    }
    const tokens = zoo.sites.map((site) => site.sessions.list[0]!.token)
    for (const [index, site] of zoo.sites.entries()) {
      const cookies = site.requests.map(({ headers }) => headers.cookie ?? '').join(' ')
      for (const [other, token] of tokens.entries()) assert.equal(cookies.includes(token), other === index)
    }
  } finally {
    await browser.close()
  }
})
