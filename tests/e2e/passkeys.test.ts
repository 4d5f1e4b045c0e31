// Passkeys with real browsers and websites that verify them: made while a person is there, used without one.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { chromium, type Page } from 'playwright-core'
import type { Credential } from '@berth/contracts/credentials'
import { begin, connect, reaches, read, submit, timeline } from '../fixtures/auth-connections.ts'
import { eventually } from '../fixtures/host.ts'
import { passkeySite } from '../fixtures/login-zoo/sites/passkey-sites.ts'
import { startZoo } from '../fixtures/login-zoo/zoo.ts'
import { startServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'

const owner = { after }
const MAX_MS = 60_000
const limit = { timeout: 240_000 }

const button = passkeySite({ name: 'passkey-button', at: 'button' })
const field = passkeySite({ name: 'passkey-field', at: 'field' })
const only = passkeySite({ name: 'passkey-alone', at: 'only' })
const offer = passkeySite({ name: 'passkey-offer', at: 'button', offers: true })
const other = passkeySite({ name: 'passkey-other', at: 'button' })
const zoo = await startZoo(
  owner,
  [button, field, only, offer, other].map(({ description }) => description),
)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { ...zoo.allow, BERTH_LOG_LEVEL: 'debug' },
})

type Site = typeof button

const siteOf = ({ description }: Site) => zoo.site(description.name)
const credentialAt = (name: string) => `/credentials/${encodeURIComponent(name)}`

async function credentialFor(site: Site, body: object = {}): Promise<string> {
  const { domain } = siteOf(site)
  const { username, password } = siteOf(site).user('ada')
  const name = `${site.description.name} ${Math.random().toString(36).slice(2)}`
  const made = await send(server, 'POST', '/credentials', {
    name,
    domain,
    values: { username, password },
    ...body,
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return name
}

const passkeysOf = async (name: string) =>
  (await send<Credential>(server, 'GET', credentialAt(name))).body.passkeys!

/** The page that the person of a login sees. */
async function pageOf(id: string): Promise<{ page: Page; close: () => Promise<void> }> {
  const { browser_session_id: session } = await read(server, id)
  const { body } = await send<{ cdp_ws_url: string }>(server, 'GET', `/browsers/${session}`)
  const browser = await chromium.connectOverCDP(body.cdp_ws_url)
  const page = browser.contexts()[0]!.pages()[0]!
  return { page, close: () => browser.close() }
}

/** A login whose person adds a passkey in the settings of the website. */
async function addPasskey(site: Site, id: string): Promise<void> {
  await begin(server, id, { create_passkey: true })
  const asked = await reaches(server, id, 'AWAITING_EXTERNAL_ACTION', MAX_MS)
  assert.match(asked.external_action_message!, /add a passkey/)
  const { page, close } = await pageOf(id)
  await page.goto(siteOf(site).urlOf('/settings'))
  await page.click('#add')
  await eventually('the website has it', () => site.party().keys.size > 0, MAX_MS)
  await close()
  const done = await reaches(server, id, 'SUCCESS', MAX_MS)
  assert.equal(done.status, 'AUTHENTICATED')
}

/** Everybody is signed out, and Berth logs in again without a person. */
async function logInAgain(site: Site, id: string) {
  siteOf(site).signOut()
  const before = (await timeline(server, id)).length
  const check = await send(server, 'POST', `/auth/connections/${id}/check`)
  assert.equal(check.status, 200, JSON.stringify(check.body))
  await eventually(
    'it logs in again',
    async () => {
      const { flow_type: type, flow_status: status } = await read(server, id)
      return type === 'REAUTH' && status !== 'IN_PROGRESS' && (await timeline(server, id)).length > before + 1
    },
    MAX_MS,
  )
  return read(server, id)
}

const passwords = (site: Site) => siteOf(site).requests.filter(({ url }) => url === '/enter').length

test('a person adds a passkey, and later logins use it and not the password', limit, async () => {
  const name = await credentialFor(button)
  const { id } = await connect(server, siteOf(button).domain, { credential: { name } })
  await addPasskey(button, id)
  const [passkey, ...others] = await passkeysOf(name)
  assert.equal(others.length, 0)
  assert.equal(passkey!.rp_id, 'passkey-button.localhost')
  assert.equal(passkey!.last_used_at, null)
  const { can_reauth, can_reauth_reason } = await read(server, id)
  assert.deepEqual([can_reauth, can_reauth_reason], [true, 'has_passkey'])

  const typed = passwords(button)
  const counters = button.party().counters.length
  const again = await logInAgain(button, id)
  assert.equal(again.flow_status, 'SUCCESS', `${again.error_code}: ${again.error_message}`)
  assert.equal(passwords(button), typed)
  assert.equal(button.party().counters.length, counters + 1)
  assert.ok((await passkeysOf(name))[0]!.last_used_at)

  const once = await logInAgain(button, id)
  assert.equal(once.flow_status, 'SUCCESS', `${once.error_code}: ${once.error_message}`)
  const [first, second] = button.party().counters.slice(-2)
  assert.ok(second! > first!, `${second} after ${first}`)
  assert.deepEqual(button.party().refusals, [])

  // Neither an answer nor the log has the key.
  const rows = await query<{ sealed_key: Buffer }>(server, 'SELECT sealed_key FROM credential_passkeys')
  assert.ok(rows.every(({ sealed_key: sealed }) => sealed.length > 100))
  assert.doesNotMatch(server.output(), /private_?key/i)
})

test('a passkey that the browser offers in a field is used, too', limit, async () => {
  const name = await credentialFor(field)
  const { id } = await connect(server, siteOf(field).domain, { credential: { name } })
  await addPasskey(field, id)
  const typed = passwords(field)
  const again = await logInAgain(field, id)
  assert.equal(again.flow_status, 'SUCCESS', `${again.error_code}: ${again.error_message}`)
  assert.equal(passwords(field), typed)
  assert.equal(field.party().counters.length, 1)
})

test('where only a passkey signs in, a login says how to add one, and then works', limit, async () => {
  const name = await credentialFor(only)
  const site = siteOf(only)
  const { id } = await connect(server, site.domain, { credential: { name } })
  await begin(server, id)
  const failed = await reaches(server, id, 'FAILED', MAX_MS)
  assert.equal(failed.error_code, 'unsupported_auth_method')
  assert.match(failed.error_message!, /import a session .* create_passkey/)

  const { token } = site.sessions.open('ada')
  const cookies = [{ name: 'sid', value: token, domain: site.host, path: '/' }]
  const imported = await send(server, 'POST', `/auth/connections/${id}/import`, {
    storage_state: { cookies },
  })
  assert.equal(imported.status, 200, JSON.stringify(imported.body))
  await reaches(server, id, 'SUCCESS', MAX_MS)
  await addPasskey(only, id)
  const again = await logInAgain(only, id)
  assert.equal(again.flow_status, 'SUCCESS', `${again.error_code}: ${again.error_message}`)
  assert.equal(only.party().counters.length, 1)

  // Deleted here, the key answers no more.
  const [passkey] = await passkeysOf(name)
  const path = `${credentialAt(name)}/passkeys/${passkey!.id}`
  assert.equal((await send(server, 'DELETE', path)).status, 204)
  assert.equal((await send(server, 'DELETE', path)).status, 204)
  assert.equal((await send(server, 'DELETE', `${path}x`)).status, 404)
  assert.deepEqual(await passkeysOf(name), [])
  assert.equal((await read(server, id)).can_reauth_reason, 'requires_passkey')
  site.signOut()
  await begin(server, id)
  assert.equal((await reaches(server, id, 'FAILED', MAX_MS)).error_code, 'unsupported_auth_method')
})

test('a passkey that the website does not know any more is an error that says so', limit, async () => {
  const name = await credentialFor(only)
  const site = siteOf(only)
  const { id } = await connect(server, site.domain, { credential: { name } })
  const { token } = site.sessions.open('ada')
  const cookies = [{ name: 'sid', value: token, domain: site.host, path: '/' }]
  await send(server, 'POST', `/auth/connections/${id}/import`, { storage_state: { cookies } })
  await reaches(server, id, 'SUCCESS', MAX_MS)
  only.party().keys.clear()
  await addPasskey(only, id)
  only.party().keys.clear()
  const again = await logInAgain(only, id)
  assert.deepEqual([again.flow_status, again.error_code], ['FAILED', 'credentials_invalid'])
  assert.match(again.error_message!, /did not accept the stored passkey/)
})

test(
  'an offer to make a passkey is for the person to decide, and nobody makes one without',
  limit,
  async () => {
    const site = siteOf(offer)
    const { username, password } = site.user('ada')
    const { id } = await connect(server, site.domain)
    await begin(server, id)
    const form = await reaches(server, id, 'AWAITING_INPUT', MAX_MS)
    const values = form.fields!.map((each) => [each.id, each.type === 'password' ? password : username])
    await submit(server, id, { field_values: Object.fromEntries(values) as object })
    const asked = await reaches(server, id, 'AWAITING_EXTERNAL_ACTION', MAX_MS)
    assert.match(asked.external_action_message!, /offers to make a passkey/)
    assert.deepEqual(
      asked.choices!.map(({ label }) => label),
      ['Create a passkey', 'Not now'],
    )
    await submit(server, id, { selected_choice_id: asked.choices![0]!.id })
    const done = await reaches(server, id, 'SUCCESS', MAX_MS)
    // The new credential has both what was typed and what was made.
    assert.equal((await passkeysOf(done.credential!.name!)).length, 1)
    const typed = passwords(offer)
    const again = await logInAgain(offer, id)
    assert.equal(again.flow_status, 'SUCCESS', `${again.error_code}: ${again.error_message}`)
    assert.equal(passwords(offer), typed)

    offer.party().keys.clear()
    const alone = await credentialFor(offer)
    const { id: unattended } = await connect(server, site.domain, { credential: { name: alone } })
    await begin(server, unattended)
    const undecided = await reaches(server, unattended, 'AWAITING_EXTERNAL_ACTION', MAX_MS)
    await submit(server, unattended, { selected_choice_id: undecided.choices![1]!.id })
    await reaches(server, unattended, 'SUCCESS', MAX_MS)
    await logInAgain(offer, unattended)
    assert.equal(offer.party().keys.size, 0)
    assert.deepEqual(await passkeysOf(alone), [])
  },
)

test('one credential has passkeys of two websites, and each gets its own', limit, async () => {
  const name = await credentialFor(button, { allowed_domains: [siteOf(other).domain] })
  button.party().keys.clear()
  const first = await connect(server, siteOf(button).domain, { credential: { name } })
  const second = await connect(server, siteOf(other).domain, { credential: { name } })
  await addPasskey(button, first.id)
  // It has the same name there, but another password.
  const person = siteOf(other).user('ada')
  await begin(server, second.id, { create_passkey: true })
  const refused = await reaches(server, second.id, 'AWAITING_INPUT', MAX_MS)
  await submit(server, second.id, {
    field_values: Object.fromEntries(
      refused.fields!.map(({ id, type }) => [id, type === 'password' ? person.password : person.username]),
    ) as object,
  })
  await reaches(server, second.id, 'AWAITING_EXTERNAL_ACTION', MAX_MS)
  const { page, close } = await pageOf(second.id)
  await page.goto(siteOf(other).urlOf('/settings'))
  await page.click('#add')
  await eventually('the website has it', () => other.party().keys.size > 0, MAX_MS)
  await close()
  await reaches(server, second.id, 'SUCCESS', MAX_MS)
  assert.deepEqual(
    (await passkeysOf(name)).map(({ rp_id: rpId }) => rpId),
    ['passkey-button.localhost', 'passkey-other.localhost'],
  )
  for (const [site, { id }] of [
    [button, first],
    [other, second],
  ] as const) {
    const typed = passwords(site)
    const again = await logInAgain(site, id)
    assert.equal(again.flow_status, 'SUCCESS', `${again.error_code}: ${again.error_message}`)
    assert.equal(passwords(site), typed)
    assert.deepEqual(
      site.party().refusals.filter((each) => each !== 'unknown key'),
      [],
    )
  }
})
