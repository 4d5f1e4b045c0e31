// Connections through the published client, with real browsers and sites of the zoo: a person logs in, the profile
// stays logged in, a health check tells logged in from logged out, and with a credential it logs in again without a
// person. ZOO=all runs the whole zoo, ZOO=a,b only these sites.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'
import type { ManagedAuth } from '@berth/contracts/auth-connections'
import type { Question } from '@berth/login/run/run'
import { client84 } from '../client/versions.ts'
import { reaches, read, timeline } from '../fixtures/auth-connections.ts'
import { eventually } from '../fixtures/host.ts'
import { ZooPerson } from '../fixtures/login-person.ts'
import { credentialOf } from '../fixtures/login-zoo/kit/credential.ts'
import type { RunningSite } from '../fixtures/login-zoo/kit/running-site.ts'
import { isCovered, type Variant } from '../fixtures/login-zoo/kit/site.ts'
import { startZoo } from '../fixtures/login-zoo/zoo.ts'
import { startServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'

const owner = { after }
const zoo = await startZoo(owner)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { ...zoo.allow, BERTH_WARM_HEADFUL: '1', BERTH_LOG_LEVEL: 'debug' },
})
const client = client84(server)
const { connections } = client.auth

const chosen =
  process.env['ZOO'] ?? 'classic-form,email-first,totp-single,local-storage,sso-redirect,push-approval'
const sites = zoo.sites.filter(({ name }) => chosen === 'all' || chosen.split(',').includes(name))
const MAX_MS = 60_000

/** Converts the API's format to that of the rules. */
function questionOf(
  state: Pick<ManagedAuth, 'fields' | 'choices' | 'interaction_id' | 'website_error'> & {
    external_action_message?: string | null
  },
): Question {
  return {
    interactionId: state.interaction_id ?? '',
    fields: (state.fields ?? []).map((field) => ({
      id: field.id,
      ref: field.ref,
      kind: field.type,
      inputType: 'text',
      label: field.label ?? '',
      placeholder: undefined,
      hint: undefined,
      isRequired: field.required ?? true,
      linkedMfaType: undefined,
      replacesExisting: field.replace_existing ?? false,
      selector: field.observed_selector ?? '',
    })),
    choices: (state.choices ?? []).map((choice) => ({
      id: choice.id,
      kind: choice.type,
      label: choice.label,
      description: choice.description ?? undefined,
      mfaType: undefined,
      target: undefined,
      provider: undefined,
      selector: '',
      xpath: '',
    })),
    externalAction: state.external_action_message ?? undefined,
    websiteError: state.website_error ?? undefined,
  }
}

async function connect(site: RunningSite, body: object = {}): Promise<string> {
  const { id } = await connections.create({
    domain: site.domain,
    profile_name: `zoo-${site.name}`,
    allowed_domains: site.allowedDomains,
    ...(site.loginUrl !== undefined && { login_url: site.loginUrl }),
    ...body,
  })
  return id
}

/** A person at the API: answers until the flow ends or the site refuses. */
async function logIn(site: RunningSite, variant: Variant, id: string): Promise<ZooPerson> {
  const person = new ZooPerson(site, variant)
  const stop = new AbortController()
  await connections.login(id)
  for await (const event of await connections.follow(id)) {
    if (event.event !== 'managed_auth_state' || !event.flow_step.startsWith('AWAITING')) continue
    const state = event as unknown as ManagedAuth
    const answer = async () => {
      const { interactionId, values, choiceId } = await person.answer(questionOf(state), stop.signal)
      await server.fetch(`/auth/connections/${id}/submit`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          interaction_id: interactionId,
          field_values: values,
          ...(choiceId !== undefined && { selected_choice_id: choiceId }),
        }),
      })
    }
    answer().catch(() => {})
    if (person.refusal) break
  }
  stop.abort()
  return person
}

async function logsInAgain(id: string): Promise<void> {
  await eventually('it is over', async () => (await read(server, id)).flow_status !== 'IN_PROGRESS', MAX_MS)
  const again = await read(server, id)
  assert.equal(again.flow_type, 'REAUTH')
  assert.equal(again.flow_status, 'SUCCESS', `${again.error_code}: ${again.error_message}`)
  assert.equal(again.status, 'AUTHENTICATED')
}

for (const site of sites) {
  const variant = site.description.variants.find(({ name, isSignedIn }) => name === 'right' && isSignedIn)
  if (!variant) continue
  test(
    `${site.name}: logs in, health checks are right, and it logs in again if it can`,
    { timeout: 180_000 },
    async () => {
      const credential = credentialOf(site, variant)
      const isWhole = isCovered(variant)
      const id = await connect(site)
      await logIn(site, variant, id)
      const done = await reaches(server, id, 'SUCCESS', MAX_MS)
      assert.equal(done.status, 'AUTHENTICATED')
      assert.deepEqual(site.signedIn, [variant.user])
      assert.ok(done.login_url)
      if (credential.totpSecret !== undefined) {
        // Typed values are stored, but not the source of one-time codes.
        assert.equal(done.can_reauth_reason, 'requires_totp_without_secret')
        await client.credentials.update(done.credential!.name!, { totp_secret: credential.totpSecret })
      }

      // Every session with the profile is logged in.
      const session = await client.browsers.create({ headless: true, profile: { name: `zoo-${site.name}` } })
      const browser = await chromium.connectOverCDP(session.cdp_ws_url)
      const seen = site.requests.length
      const goes = browser.contexts()[0]!.pages()[0]!.goto(site.checkUrl)
      // Except for HTTP authentication, which Chromium keeps only while it runs.
      if (site.description.isHttpAuthentication) await assert.rejects(goes, /ERR_INVALID_AUTH_CREDENTIALS/)
      else await goes
      assert.ok(site.requests.length > seen)
      await browser.close()
      await client.browsers.deleteByID(session.session_id)

      const inside = await send<ManagedAuth>(server, 'POST', `/auth/connections/${id}/check`)
      assert.equal(inside.status, 200, JSON.stringify(inside.body))
      if (site.description.isHttpAuthentication) {
        // Each new Chromium is logged out, and the credential logs it in again.
        await logsInAgain(id)
        return
      }
      assert.equal((await timeline(server, id))[0]!.status, 'AUTHENTICATED')
      assert.equal((await timeline(server, id))[0]!.error_code, undefined)

      if (site.description.cannotSignOut !== undefined) return
      site.signOut()
      const outside = await send<ManagedAuth>(server, 'POST', `/auth/connections/${id}/check`)
      assert.equal(outside.status, 200, JSON.stringify(outside.body))
      const [latest] = (await timeline(server, id)).filter(({ type }) => type === 'health_check')
      assert.equal(latest!.status, 'NEEDS_AUTH', JSON.stringify(latest))
      const { can_reauth, can_reauth_reason } = await read(server, id)
      if (!can_reauth) {
        assert.equal((await read(server, id)).status, 'NEEDS_AUTH')
        assert.ok(!isWhole, can_reauth_reason)
        return
      }
      await logsInAgain(id)
      assert.deepEqual(site.signedIn, [variant.user])
    },
  )
}

test(
  'a wrong password is reported with the message of the website, and no typed value is in the log',
  { timeout: 120_000 },
  async () => {
    const site = zoo.site('classic-form')
    const variant = site.description.variants.find(({ name }) => name === 'wrong password')!
    const id = await connect(site, { profile_name: 'wrong', record_session: true, save_credentials: false })
    const person = await logIn(site, variant, id)
    assert.match(person.refusal!.websiteError!, new RegExp(variant.says!))
    await send(server, 'POST', `/auth/connections/${id}/cancel`)
    const [event] = await timeline(server, id)
    assert.equal(event!.status, 'CANCELED')
    assert.ok(event!.replay_id)
    const log = server.output()
    for (const { password } of site.description.users) assert.ok(!log.includes(password))
    assert.ok(!log.includes(variant.gives!.password!))
    const profile = await client.profiles.retrieve('wrong')
    assert.equal((profile as { version?: number }).version, undefined)
  },
)

test('an unknown host name is a network error, not a website error', { timeout: 120_000 }, async () => {
  const made = await client.auth.connections.create({ domain: 'nobody.invalid', profile_name: 'nobody' })
  await connections.login(made.id)
  const { error_code, error_message } = await reaches(server, made.id, 'FAILED', MAX_MS)
  assert.deepEqual(
    [error_code, error_message],
    ['network_error', 'Cannot load the page: net::ERR_NAME_NOT_RESOLVED'],
  )
})
