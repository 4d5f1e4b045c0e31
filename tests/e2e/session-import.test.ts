// A connection that starts from the session of somebody's own browser, with real browsers on both sides.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { chromium, type BrowserContext } from 'playwright-core'
import type { ImportSessionResponse } from '@berth/contracts/session-import'
import { connect, reaches, read, timeline } from '../fixtures/auth-connections.ts'
import type { RunningSite } from '../fixtures/login-zoo/kit/running-site.ts'
import { BROWSER_ARGS, startZoo } from '../fixtures/login-zoo/zoo.ts'
import { startServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'

const owner = { after }
const MAX_MS = 60_000
const limit = { timeout: 180_000 }

const zoo = await startZoo(owner)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { ...zoo.allow, BERTH_LOG_LEVEL: 'debug' },
})
const own = await chromium.launch({ executablePath: '/usr/bin/chromium', args: BROWSER_ARGS })
after(() => own.close())

/** The person signs in with their own browser. */
async function signedIn(site: RunningSite): Promise<BrowserContext> {
  const context = await own.newContext()
  const page = await context.newPage()
  const { description } = site
  await page.goto(site.loginUrl ?? site.url)
  await description.walk(page, site.person(description.variants[0]!))
  await page.waitForSelector('text=/log ?out|sign out/i')
  return context
}

async function imported(id: string, body: object): Promise<ImportSessionResponse> {
  const answer = await send<ImportSessionResponse>(server, 'POST', `/auth/connections/${id}/import`, body)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

const versionOf = async (name: string) =>
  (await send<{ version?: number }>(server, 'GET', `/profiles/${name}`)).body.version

for (const name of ['session-cookies', 'local-storage']) {
  test(`${name}: starts signed in, and health checks tell in from out`, limit, async () => {
    const site = zoo.site(name)
    const context = await signedIn(site)
    const state = await context.storageState()
    await context.close()
    const seen = site.requests.length
    const { id, profile_name: profile } = await connect(server, site.domain)
    const answer = await imported(id, { storage_state: state })
    assert.deepEqual([answer.left_out, answer.left_out_count], [[], 0])
    assert.deepEqual([answer.cookies, answer.origins], [state.cookies.length, state.origins.length])
    const done = await reaches(server, id, 'SUCCESS', MAX_MS)
    assert.equal(done.status, 'AUTHENTICATED')
    assert.equal(await versionOf(profile), 1)
    // No password was sent.
    const sent = site.requests.slice(seen).filter(({ method }) => method === 'POST')
    assert.deepEqual(sent, [])
    assert.equal(done.can_reauth_reason, 'no_credential')

    const session = await send<{ session_id: string; cdp_ws_url: string }>(server, 'POST', '/browsers', {
      headless: true,
      profile: { name: profile },
    })
    const browser = await chromium.connectOverCDP(session.body.cdp_ws_url)
    const page = browser.contexts()[0]!.pages()[0]!
    await page.goto(site.checkUrl)
    await page.waitForSelector('text=/log ?out|sign out/i')
    await browser.close()
    await send(server, 'DELETE', `/browsers/${session.body.session_id}`)

    await send(server, 'POST', `/auth/connections/${id}/check`)
    assert.equal((await timeline(server, id))[0]!.status, 'AUTHENTICATED')
    site.signOut()
    await send(server, 'POST', `/auth/connections/${id}/check`)
    assert.equal((await timeline(server, id))[0]!.status, 'NEEDS_AUTH')
    assert.equal((await read(server, id)).status, 'NEEDS_AUTH')

    // What was imported is kept nowhere but in the profile.
    assert.deepEqual(await query(server, 'SELECT * FROM auth_imports'), [])
    for (const { value } of state.cookies) if (value.length > 8) assert.ok(!server.output().includes(value))
  })
}

test(
  'a session that is over is refused with the reason, and the profile stays as it was',
  limit,
  async () => {
    const site = zoo.site('session-cookies')
    const context = await signedIn(site)
    const state = await context.storageState()
    await context.close()
    const { id, profile_name: profile } = await connect(server, site.domain)
    await imported(id, { storage_state: state })
    await reaches(server, id, 'SUCCESS', MAX_MS)
    site.signOut()
    await imported(id, { storage_state: state })
    const failed = await reaches(server, id, 'FAILED', MAX_MS)
    assert.equal(failed.error_code, 'imported_session_rejected')
    assert.match(failed.error_message!, /the website still asks for a login/)
    assert.equal(await versionOf(profile), 1)
  },
)

test('what belongs to other websites is left out and named', limit, async () => {
  const site = zoo.site('session-cookies')
  const { token } = site.sessions.open('ada')
  const { id } = await connect(server, site.domain)
  const lines = [
    `${site.host}\tFALSE\t/\tFALSE\t0\twebmail_sessid\t${token}`,
    `#HttpOnly_${site.host}\tFALSE\t/\tFALSE\t0\twebmail_sessauth\t1`,
    `.elsewhere.example\tTRUE\t/\tFALSE\t0\tsecret\tvalue`,
  ]
  const answer = await imported(id, { cookies_txt: lines.join('\n') })
  assert.deepEqual(answer.left_out, [
    { kind: 'cookie', name: 'secret', domain: '.elsewhere.example', reason: 'other_domain' },
  ])
  assert.equal((await reaches(server, id, 'SUCCESS', MAX_MS)).status, 'AUTHENTICATED')
})

test('a request that is no session names the field', limit, async () => {
  const { id } = await connect(server, 'nobody')
  const post = (body: object) =>
    send<{ message: string }>(server, 'POST', `/auth/connections/${id}/import`, body)
  const wrong = await post({
    storage_state: { cookies: [{ name: 'a', value: 1, domain: 'nobody.example' }] },
  })
  assert.equal(wrong.status, 400)
  assert.match(wrong.body.message, /storage_state\.cookies\.0\.value: must be string/)
  const none = await post({ cookies: [] })
  assert.equal(none.status, 400)
  assert.match(none.body.message, /cookies: has nothing that nobody\.example/)
  assert.equal((await read(server, id)).flow_status, null)
})
