// The server is killed between the moment when a website makes a passkey and the moment when it is stored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import type { Credential } from '@berth/contracts/credentials'
import { begin, connect, reaches, read } from '../fixtures/auth-connections.ts'
import { eventually } from '../fixtures/host.ts'
import { passkeySite } from '../fixtures/login-zoo/sites/passkey-sites.ts'
import { startZoo } from '../fixtures/login-zoo/zoo.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'

const MAX_MS = 60_000

for (const at of ['login-passkey-made', 'login-passkey-kept'] as const) {
  test(`a kill at ${at} loses no passkey`, { timeout: 240_000 }, async (t) => {
    const site = passkeySite({ name: 'passkey-killed', at: 'button' })
    const zoo = await startZoo(t, [site.description])
    const running = zoo.site('passkey-killed')
    const { username, password } = running.user('ada')
    const dataDir = tempDir(t)
    const start = (crash?: string) =>
      startServer(t, {
        hasRealInstances: true,
        dataDir,
        env: {
          ...zoo.allow,
          BERTH_LEASE_SECONDS: '30',
          ...(crash !== undefined && { BERTH_CRASH_AT: crash }),
        },
      })
    const doomed = await start(at)
    const credential = { name: 'killed', domain: running.domain, values: { username, password } }
    assert.equal((await send(doomed, 'POST', '/credentials', credential)).status, 201)
    const { id } = await connect(doomed, running.domain, { credential: { name: 'killed' } })
    await begin(doomed, id, { create_passkey: true })
    await reaches(doomed, id, 'AWAITING_EXTERNAL_ACTION', MAX_MS)
    const { browser_session_id: session } = await read(doomed, id)
    const shown = await send<{ cdp_ws_url: string }>(doomed, 'GET', `/browsers/${session}`)
    const browser = await chromium.connectOverCDP(shown.body.cdp_ws_url)
    const page = browser.contexts()[0]!.pages()[0]!
    await page.goto(running.urlOf('/settings'))
    await page.click('#add').catch(() => {})
    await eventually('it is killed', () => doomed.process.signalCode === 'SIGKILL', MAX_MS)
    await browser.close().catch(() => {})
    await eventually('the website has the passkey', () => site.party().keys.size === 1, MAX_MS)

    const server = await start()
    const kept = async () =>
      (await send<Credential>(server, 'GET', '/credentials/killed')).body.passkeys ?? []
    await eventually('the passkey is stored', async () => (await kept()).length === 1, MAX_MS)
    await eventually(
      'the flow has gone on or ended',
      async () => {
        const { flow_status: status, flow_step: step } = await read(server, id)
        return status !== 'IN_PROGRESS' || step === 'AWAITING_EXTERNAL_ACTION'
      },
      MAX_MS,
    )
    await send(server, 'POST', `/auth/connections/${id}/cancel`)
    // It is the key that the website knows: it signs in without the password.
    running.signOut()
    const entered = running.requests.filter(({ url }) => url === '/enter').length
    await begin(server, id)
    const done = await reaches(server, id, 'SUCCESS', MAX_MS)
    assert.equal(done.can_reauth_reason, 'has_passkey')
    assert.equal(running.requests.filter(({ url }) => url === '/enter').length, entered)
    assert.deepEqual(site.party().refusals, [])
    assert.equal((await kept()).length, 1)
  })
}
