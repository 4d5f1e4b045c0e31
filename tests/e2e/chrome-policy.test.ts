// Policies, languages and time zones of real sessions.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { client84 } from '../client/versions.ts'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, query, send } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'

const owner = { after }
const site = await startSite(owner)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { ...site.allow, BERTH_WARM_HEADLESS: '1', BERTH_EMPTY_INSTANCES: '1' },
})
const { browsers } = client84(server)

/** What a page shows after navigation. */
async function textAt(cdp: CdpClient, path: string): Promise<string> {
  const { errorText } = await cdp.callPage<{ errorText?: string }>('Page.navigate', { url: site.url + path })
  if (errorText) return errorText
  let text = ''
  await eventually(
    'the page is there',
    async () =>
      (text = await cdp.evaluate<string>("document.title + (document.body?.innerText ?? '')")) !== '',
  )
  return text
}

test('policies are applied, returned, and survive a restart of Chromium', async () => {
  const chrome_policy = {
    URLBlocklist: ['*/popup'],
    RestoreOnStartup: 5,
    OfAnotherVersion: { anything: [1, null, 'ü'] },
  }
  const session = await browsers.create({ headless: true, timeout_seconds: 300, chrome_policy })
  assert.deepEqual(session.chrome_policy, chrome_policy)
  assert.deepEqual((await browsers.retrieve(session.session_id)).chrome_policy, chrome_policy)
  assert.deepEqual((await browsers.list()).getPaginatedItems()[0]!.chrome_policy, chrome_policy)
  const renamed = await browsers.update(session.session_id, { name: 'with-policies' })
  assert.deepEqual(renamed.chrome_policy, chrome_policy)

  const first = await CdpClient.open(session.cdp_ws_url)
  assert.match(await textAt(first, '/inner'), /Inside/)
  assert.match(await textAt(first, '/popup'), /BLOCKED_BY_ADMINISTRATOR/)
  await first.call('Browser.close').catch(() => {})
  await first.closed()
  await withCdp(session.cdp_ws_url, async (cdp) => {
    assert.match(await textAt(cdp, '/popup'), /BLOCKED_BY_ADMINISTRATOR/)
  })
  await browsers.deleteByID(session.session_id)
  const ended = await browsers.retrieve(session.session_id, { include_deleted: true })
  assert.deepEqual(ended.chrome_policy, chrome_policy)
  // A copy of the database must not reveal them.
  const [row] = await query<{ sealed: Buffer }>(server, 'SELECT sealed FROM browser_policies')
  assert.ok(!row!.sealed.includes('URLBlocklist'))
})

test('five megabytes are accepted, and returned for a single session', async () => {
  const chrome_policy = { URLBlocklist: ['x'.repeat(5 * 1024 * 1024 - 100)] }
  const session = await createSession(server, { chrome_policy })
  const path = `/browsers/${session.session_id}`
  const got = (await send<{ chrome_policy?: object }>(server, 'GET', path)).body
  assert.deepEqual(got.chrome_policy, chrome_policy)
  const listed = (await send<{ chrome_policy?: object }[]>(server, 'GET', '/browsers')).body
  assert.equal(listed[0]!.chrome_policy, undefined)
  await withCdp(session.cdp_ws_url, async (cdp) => assert.match(await textAt(cdp, '/inner'), /Inside/))
  await send(server, 'DELETE', path)
})

test('wrong policies and those not open to tenants are refused by name, before anything is created', async () => {
  let deep: unknown = 1
  for (let level = 0; level < 150; level++) deep = [deep]
  for (const [policy, why] of [
    [{ ProxyMode: 'direct' }, /chrome_policy\.ProxyMode: is managed by Berth/],
    [{ ExtensionInstallForcelist: [] }, /chrome_policy\.ExtensionInstallForcelist/],
    [{ NativeMessagingAllowlist: ['*'] }, /chrome_policy\.NativeMessagingAllowlist/],
    [{ RemoteDebuggingAllowed: true }, /chrome_policy\.RemoteDebuggingAllowed/],
    [{ BrowserSwitcherEnabled: true }, /chrome_policy\.BrowserSwitcherEnabled/],
    [{ URLBlocklist: 'x' }, /chrome_policy\.URLBlocklist: must be a list/],
    [{ Deep: deep }, /chrome_policy\.Deep: is nested/],
    [{ Long: 'x'.repeat(5 * 1024 * 1024) }, /at most 5 MiB/],
    [[], /chrome_policy/],
    ['{}', /chrome_policy/],
  ] as const) {
    const answer = await send(server, 'POST', '/browsers', { headless: true, chrome_policy: policy })
    assert.equal(answer.status, 400, answer.body.message?.slice(0, 200))
    assert.match(answer.body.message!, why)
  }
  // Written by hand, because no serializer would produce it.
  const abyss = `{"headless":true,"chrome_policy":{"Deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
  for (const headers of [{}, { 'idempotency-key': 'deep' }]) {
    const init = { method: 'POST', body: abyss, headers: { 'content-type': 'application/json', ...headers } }
    const answer = await server.fetch('/browsers', init)
    assert.equal(answer.status, 400)
    assert.match(((await answer.json()) as { message: string }).message, /nested/)
  }
  const { status } = await send(server, 'POST', '/browsers', {
    chrome_policy: { Long: 'x'.repeat(10 * 1024 * 1024) },
  })
  assert.equal(status, 413)
})

for (const headless of [true, false]) {
  test(`a ${headless ? 'headless' : 'headful'} session has the requested language and time zone`, async () => {
    const asked = { locale: 'de-DE', timezone: 'Europe/Berlin' }
    const session = await createSession(server, { headless, ...asked })
    const { locale, timezone } = session as unknown as typeof asked
    assert.deepEqual({ locale, timezone }, asked)
    await withCdp(session.cdp_ws_url, async (cdp) => {
      await textAt(cdp, '/inner')
      const told = await cdp.evaluate<object>(`(() => {
        const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions()
        const { language, languages } = navigator
        return { locale, timeZone, language, languages, number: (1.5).toLocaleString(), hours: new Date(0).getHours() }
      })()`)
      assert.deepEqual(told, {
        locale: 'de',
        timeZone: 'Europe/Berlin',
        language: 'de-DE',
        languages: ['de-DE', 'de', 'en-US', 'en'],
        number: '1,5',
        hours: 1,
      })
    })
    await send(server, 'DELETE', `/browsers/${session.session_id}`)
  })
}

test('unknown languages and time zones are refused', async () => {
  for (const [body, why] of [
    [{ locale: 'tlh-QX' }, /locale: is not available/],
    [{ locale: 'de_DE' }, /locale: must match/],
    [{ locale: '--no-sandbox' }, /locale: must match/],
    [{ timezone: 'Mars/Base' }, /timezone: must be a time zone/],
    [{ timezone: '../../etc/passwd' }, /timezone: must match/],
    [{ timezone: '' }, /timezone: must match/],
  ] as const) {
    const answer = await send(server, 'POST', '/browsers', { headless: true, ...body })
    assert.equal(answer.status, 400)
    assert.match(answer.body.message!, why)
  }
})
