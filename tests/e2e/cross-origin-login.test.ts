// A page of another origin, in a real Chromium, takes a person through a whole login: real sites of the zoo, a real
// browser for the login, and only the code and the token of the flow. Everything else is closed to the page.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'
import { begin, connect, reaches } from '../fixtures/auth-connections.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { startZoo } from '../fixtures/login-zoo/zoo.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'

/** The customer's page. It answers a flow by the names of the events, as published login components do. */
const SHOP = `<!doctype html><title>Shop</title><script type="module">
  const header = (jwt) => ({ authorization: 'Bearer ' + jwt })
  const post = (url, body, headers = {}) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })

  async function* eventsOf(url, jwt) {
    const answer = await fetch(url, {
      headers: { ...header(jwt), accept: 'text/event-stream', 'last-event-id': '0', 'x-stainless-lang': 'js' },
    })
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let text = ''; ; ) {
      const { value, done } = await reader.read()
      if (done) return
      text += value
      for (let end; (end = text.indexOf('\\n\\n')) !== -1; text = text.slice(end + 2)) {
        const lines = text.slice(0, end).split('\\n')
        const field = (name) => lines.find((line) => line.startsWith(name + ': '))?.slice(name.length + 2)
        if (field('event') === 'managed_auth_state') yield JSON.parse(field('data'))
      }
    }
  }

  window.logIn = async ({ api, id, code, values }) => {
    const at = api + '/auth/connections/' + id
    const { jwt } = await (await post(at + '/exchange', { code })).json()
    const seen = []
    for await (const state of eventsOf(at + '/events', jwt)) {
      seen.push(state.flow_step)
      if (state.flow_step === 'AWAITING_INPUT') {
        const shown = await (await fetch(at, { headers: header(jwt) })).json()
        const field_values = Object.fromEntries(shown.fields.map((field) => [field.id, values[field.type]]))
        const answer = await post(at + '/submit', { field_values, interaction_id: shown.interaction_id }, header(jwt))
        if (answer.status !== 202) throw new Error(await answer.text())
      }
      if (state.flow_status !== 'IN_PROGRESS') return { status: state.flow_status, seen, jwt }
    }
  }

  // A call that the browser does not allow rejects without a reason.
  window.call = (url, options) => fetch(url, options).then(({ status }) => status, () => 'blocked')
</script>`

const owner = { after }
const zoo = await startZoo(owner)
const shops = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(SHOP))
shops.listen(0, '127.0.0.1')
await once(shops, 'listening')
cleanUpAfter(owner, async () => {
  shops.closeAllConnections()
  shops.close()
  await once(shops, 'close')
})
const shop = `http://host.berth.internal:${(shops.address() as AddressInfo).port}`

const server = await startServer(owner, {
  hasRealInstances: true,
  env: {
    BERTH_EGRESS_ALLOW: '127.0.0.0/8,host.berth.internal:*',
    BERTH_ALLOWED_HOSTS: 'host.berth.internal',
  },
})
const api = `http://host.berth.internal:${new URL(server.url).port}`
const browser = await chromium.connectOverCDP((await createSession(server)).cdp_ws_url)
after(() => browser.close())

test('a page of another origin runs a whole login, and can do nothing else', async () => {
  const page = await browser.newPage()
  await page.goto(shop)
  const site = zoo.site('classic-form')
  const user = site.description.users[0]!
  const { id } = await connect(server, site.domain, {
    allowed_domains: site.allowedDomains,
    ...(site.loginUrl !== undefined && { login_url: site.loginUrl }),
  })
  const { handoff_code: code } = await begin(server, id)
  const values = { identifier: user.username, password: user.password }
  const done = await page.evaluate<Done>(`logIn(${JSON.stringify({ api, id, code, values })})`)
  assert.equal(done.status, 'SUCCESS', JSON.stringify(done))
  assert.ok(done.seen.includes('AWAITING_INPUT'))
  assert.equal((await reaches(server, id, 'SUCCESS')).status, 'AUTHENTICATED')

  const call = (path: string, options: object) =>
    page.evaluate<unknown>(`call(${JSON.stringify(api + path)}, ${JSON.stringify(options)})`)
  const withToken = { headers: { authorization: `Bearer ${done.jwt}` } }
  const withKey = { headers: { authorization: `Bearer ${server.key}` } }
  // The page can still read this one.
  assert.equal(await call(`/auth/connections/${id}`, withToken), 200)
  // It can read that a key is refused, and no more.
  assert.equal(await call(`/auth/connections/${id}`, withKey), 403)
  for (const headers of [withToken, withKey]) {
    assert.equal(await call('/browsers', headers), 'blocked')
    assert.equal(await call('/auth/connections', headers), 'blocked')
    assert.equal(await call(`/auth/connections/${id}/timeline`, headers), 'blocked')
    assert.equal(await call(`/auth/connections/${id}`, { ...headers, method: 'DELETE' }), 'blocked')
    assert.equal(await call(`/auth/connections/${id}/login`, { ...headers, method: 'POST' }), 'blocked')
  }
  assert.equal(await call('/health', {}), 'blocked')
  // With cookies or certificates of the browser, nothing is open.
  assert.equal(await call(`/auth/connections/${id}`, { ...withToken, credentials: 'include' }), 'blocked')
  assert.equal((await send(server, 'GET', `/auth/connections/${id}`)).status, 200)
})

interface Done {
  readonly status: string
  readonly seen: readonly string[]
  readonly jwt: string
}
