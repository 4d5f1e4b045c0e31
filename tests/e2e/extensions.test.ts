// Extensions in real sessions: at creation, loaded live, and installed by policy.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'
import { toFile } from 'kernel-sdk-0-84'
import { client55, client70, client84 } from '../client/versions.ts'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { autoconsent, blocker, crxOf, manifest, marker, zipOf } from '../fixtures/extensions.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, listSessions, send, type Session } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'

const owner = { after }
const site = await startSite(owner)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { ...site.allow, BERTH_WARM_HEADLESS: '1' },
})
const { extensions, browsers } = client84(server)
const upload = async (file: Buffer, name: string) =>
  extensions.upload({ file: await toFile(file, 'extension.zip'), name })

const { crx, id: crxId } = crxOf(marker('signed'))
await upload(marker(), 'marker')
await upload(crx, 'signed')
await upload(autoconsent(), 'autoconsent')
await upload(blocker('popup'), 'blocker')
// Only Chromium detects this.
const broken = zipOf({
  'manifest.json': manifest({ content_scripts: [{ matches: ['<all_urls>'], js: ['absent.js'] }] }),
})
await upload(broken, 'broken')

interface Target {
  readonly targetId: string
  readonly type: string
  readonly url: string
}

/** What the extensions wrote into the page. */
async function marks(cdp: CdpClient): Promise<Record<string, string>> {
  await cdp.callPage('Page.navigate', { url: `${site.url}/inner` })
  await eventually('the page is there', () => cdp.evaluate<boolean>(`document.title === 'Inner'`))
  return cdp.evaluate('({ ...document.documentElement.dataset })')
}

const load = (session: Session, files: Record<string, Buffer>) => {
  const form = new FormData()
  for (const [index, [name, file]] of Object.entries(files).entries()) {
    form.set(`extensions[${index}][name]`, name)
    form.set(`extensions[${index}][zip_file]`, new Blob([new Uint8Array(file)]), 'x.zip')
  }
  return server.fetch(`/browsers/${session.session_id}/extensions`, { method: 'POST', body: form })
}

for (const headless of [true, false]) {
  test(`a ${headless ? 'headless' : 'headful'} session starts with extensions, which survive a restart of Chromium`, async () => {
    const wanted = [{ name: 'marker' }, { name: 'signed' }, { name: 'autoconsent' }]
    const session = await createSession(server, { headless, extensions: wanted })
    const first = await CdpClient.open(session.cdp_ws_url)
    const found = await marks(first)
    assert.match(found['marked']!, /^[a-p]{32}$/)
    // The id of its publisher.
    assert.equal(found['signed'], crxId)
    const { targetInfos } = await first.call<{ targetInfos: Target[] }>('Target.getTargets')
    const isConsent = ({ url }: Target) => url.endsWith('/background.bundle.js')
    assert.equal(targetInfos.find(isConsent)?.type, 'service_worker')
    for (const { name } of wanted) assert.ok((await extensions.get(name)).last_used_at, name)

    await first.call('Browser.close').catch(() => {})
    await first.closed()
    await withCdp(session.cdp_ws_url, async (cdp) => assert.deepEqual(await marks(cdp), found))
    await browsers.deleteByID(session.session_id)
  })
}

test('contexts that clients create have them, too', async () => {
  const session = await createSession(server, { extensions: [{ name: 'marker' }] })
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  const page = await (await browser.newContext()).newPage()
  await page.goto(`${site.url}/inner`)
  assert.match((await page.locator('html').getAttribute('data-marked')) ?? '', /^[a-p]{32}$/)
  await browser.close()
  await browsers.deleteByID(session.session_id)
})

test('a running session accepts extensions from every client version, and its pages stay', async () => {
  const session = await createSession(server)
  const cdp = await CdpClient.open(session.cdp_ws_url)
  await cdp.evaluate('globalThis.kept = 1')
  const clients = { from55: client55(server), from70: client70(server), from84: client84(server) }
  for (const [name, client] of Object.entries(clients)) {
    const zip_file = await toFile(marker(name), 'x.zip')
    await client.browsers.loadExtensions(session.session_id, { extensions: [{ name, zip_file }] })
  }
  assert.equal(await cdp.evaluate('globalThis.kept'), 1)
  assert.equal((await load(session, { one: marker('one'), two: marker('two') })).status, 201)
  // An existing one is replaced.
  assert.equal((await load(session, { one: marker('instead') })).status, 201)
  const found = Object.keys(await marks(cdp)).toSorted()
  assert.deepEqual(found, ['from55', 'from70', 'from84', 'instead', 'two'])

  // With the session token, below its base_url.
  const { base_url } = await browsers.retrieve(session.session_id)
  const form = new FormData()
  form.set('extensions[0][name]', 'token')
  form.set('extensions[0][zip_file]', new Blob([new Uint8Array(marker('token'))]), 'x.zip')
  const jwt = new URL(session.cdp_ws_url).searchParams.get('jwt')
  const answer = await fetch(`${base_url}/extensions?jwt=${jwt}`, { method: 'POST', body: form })
  assert.equal(answer.status, 201, await answer.text())
  assert.ok('token' in (await marks(cdp)))
  cdp.terminate()
  await browsers.deleteByID(session.session_id)
})

test('a refusal by Chromium or the agent is a clear error, and nothing of the request is loaded', async () => {
  const session = await createSession(server)
  const cdp = await CdpClient.open(session.cdp_ws_url)
  const old = zipOf({ 'manifest.json': manifest({ manifest_version: 2 }) })
  const refused: [Record<string, Buffer>, RegExp][] = [
    [{ first: marker(), broken }, /"broken": Chromium refuses it: .*absent\.js/],
    [{ first: marker(), old }, /"old": .*version 2/],
    [{ first: marker(), crx }, /it is a crx/],
    [{ first: marker(), none: Buffer.from('x') }, /"none": .*not a zip archive/],
    [{ '..': marker() }, /name "\.\."/],
    [{ 'a/b': marker() }, /name "a\/b"/],
    [{}, /form/],
    [Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`e${index}`, marker()])), /more than 20/],
  ]
  for (const [files, why] of refused) {
    const answer = await load(session, files)
    const { code, message } = (await answer.json()) as { code: string; message: string }
    assert.equal(answer.status, 400, message)
    assert.equal(code, 'bad_request')
    assert.match(message, why)
  }
  assert.deepEqual(await marks(cdp), {})
  const listed = await server.fetch(
    `/browsers/${session.session_id}/fs/list_files?path=/home/kernel/extensions`,
  )
  assert.deepEqual(await listed.json(), [])
  cdp.terminate()

  const before = (await listSessions(server)).length
  const created = await send(server, 'POST', '/browsers', {
    headless: true,
    extensions: [{ name: 'marker' }, { name: 'broken' }],
  })
  assert.equal(created.status, 400)
  assert.match(created.body.message!, /extensions: Cannot load extension "broken"/)
  assert.equal((await listSessions(server)).length, before)
  for (const [wrong, why] of [
    [[{ name: 'absent' }], /extensions\.0: names "absent"/],
    [[{ name: 'marker' }, { id: 'a'.repeat(24) }], /extensions\.1: names/],
    [[{}], /exactly one/],
    [[{ id: 'x', name: 'marker' }], /exactly one/],
    [[{ name: 'marker' }, { name: 'marker' }], /extensions\.1: is there twice/],
    [Array.from({ length: 21 }, () => ({ name: 'marker' })), /at most 20/],
  ] as const) {
    const answer = await send(server, 'POST', '/browsers', { headless: true, extensions: wrong })
    assert.equal(answer.status, 400, JSON.stringify(wrong))
    assert.match(answer.body.message!, why)
  }
  await browsers.deleteByID(session.session_id)
})

const isBlocked = (cdp: CdpClient) => cdp.evaluate<boolean>(`fetch('/popup').then(() => false, () => true)`)

test('an extension that only an administrator may install is installed, at creation and live', async () => {
  const created = await createSession(server, { extensions: [{ name: 'blocker' }, { name: 'marker' }] })
  await withCdp(created.cdp_ws_url, async (cdp) => {
    assert.ok('marked' in (await marks(cdp)))
    await eventually('it blocks', () => isBlocked(cdp))
  })
  await browsers.deleteByID(created.session_id)

  const session = await createSession(server)
  await withCdp(session.cdp_ws_url, async (cdp) => {
    await marks(cdp)
    assert.equal(await isBlocked(cdp), false)
  })
  const answer = await load(session, { blocker: blocker('popup') })
  assert.equal(answer.status, 201, await answer.text())
  await withCdp(session.cdp_ws_url, async (cdp) => {
    await marks(cdp)
    await eventually('it blocks', () => isBlocked(cdp))
  })
  await browsers.deleteByID(session.session_id)
})
