// A profile passes the state of one session to the next.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import type { Browser } from '@berth/contracts/browsers'
import type { ProfileVersion } from '@berth/contracts/profiles'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { everything, join, knownAt, nothing, pagesOf, startMemberSite } from '../fixtures/member-site.ts'
import { createProfile, endSession, readProfile, versionsOf, whenSaved } from '../fixtures/profiles.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, endsAs, send, type Session } from '../fixtures/sessions.ts'

const owner = { after }
const site = await startMemberSite(owner)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { ...site.allow, BERTH_WARM_HEADLESS: '1', BERTH_EMPTY_INSTANCES: '1' },
})
const TABS = [`${site.url}/`, `${site.url}/second`]

/** In every kind of storage of the browser, and in a second tab. */
async function leaveMark(cdp: CdpClient, name: string): Promise<void> {
  await join(cdp, site, name)
  const { targetId } = await cdp.call<{ targetId: string }>('Target.createTarget', { url: TABS[1] })
  await hasTabs(cdp)
  // A tab that has not loaded anything yet is not saved.
  const attached = await cdp.call<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
  const expression = `document.readyState + ' ' + location.href`
  await eventually('the second one is loaded', async () => {
    const { result } = await cdp.call<{ result: { value: string } }>(
      'Runtime.evaluate',
      { expression },
      attached,
    )
    return result.value === `complete ${TABS[1]}`
  })
}

async function hasTabs(cdp: CdpClient, expected = TABS): Promise<void> {
  let pages: string[] = []
  const areThere = async () => (pages = await pagesOf(cdp)).join() === expected.join()
  await eventually('its tabs are there', areThere).catch(() => assert.deepEqual(pages, expected))
}

const known = (session: Session) => withCdp(session.cdp_ws_url, (cdp) => knownAt(cdp, site))

async function sessionWith(
  profile: { id?: string; name?: string; save_changes?: boolean },
  body: object = {},
) {
  return createSession(server, { profile, ...body })
}

/** A profile that was saved once, by a user of that name. */
async function profileOf(name: string) {
  const profile = await createProfile(server)
  const session = await sessionWith({ id: profile.id, save_changes: true })
  await withCdp(session.cdp_ws_url, (cdp) => leaveMark(cdp, name))
  await endSession(server, session.session_id)
  assert.deepEqual(await whenSaved(server, session.session_id), { state: 'saved', version: 1 })
  return profile
}

for (const headless of [true, false]) {
  test(`the next session has the state of a ${headless ? 'headless' : 'headful'} session`, async () => {
    const profile = await createProfile(server)
    const first = await sessionWith({ id: profile.id, save_changes: true }, { headless })
    await withCdp(first.cdp_ws_url, async (cdp) => {
      assert.deepEqual(await knownAt(cdp, site), nothing)
      await leaveMark(cdp, 'ada')
    })
    await endSession(server, first.session_id)

    // Without a wait, and with the other kind of browser.
    const second = await sessionWith({ id: profile.id }, { headless: !headless })
    await withCdp(second.cdp_ws_url, async (cdp) => {
      await hasTabs(cdp)
      assert.deepEqual(await knownAt(cdp, site), everything('ada'))
      await join(cdp, site, 'not saved')
    })
    await endSession(server, second.session_id)
    assert.deepEqual(await whenSaved(server, first.session_id), { state: 'saved', version: 1 })
    const saved = await readProfile(server, profile.id)
    assert.equal(saved.version, 1)
    assert.equal(saved.is_saving, false)
    assert.ok(Date.parse(saved.updated_at!) > Date.parse(profile.created_at))
    assert.ok(saved.last_used_at)
    assert.equal((await versionsOf(server, profile.id)).length, 1)
  })
}

test('a session that times out is saved, and a start_url replaces the tabs', async () => {
  const profile = await createProfile(server, 'by-name')
  const first = await sessionWith({ name: 'by-name', save_changes: true }, { timeout_seconds: 10 })
  await withCdp(first.cdp_ws_url, (cdp) => leaveMark(cdp, 'bea'))
  await endsAs(server, first, { reason: 'timed_out', withinMs: 20_000 })
  const second = await sessionWith({ name: 'by-name' }, { start_url: `${site.url}/start` })
  await withCdp(second.cdp_ws_url, async (cdp) => {
    await hasTabs(cdp, [`${site.url}/start`])
    assert.deepEqual(await knownAt(cdp, site), everything('bea'))
  })
  assert.equal((await readProfile(server, 'by-name')).id, profile.id)
  await endSession(server, second.session_id)
})

test('a client that closes the browser loses neither session cookies nor tabs', async () => {
  const profile = await createProfile(server)
  const first = await sessionWith({ id: profile.id, save_changes: true })
  await withCdp(first.cdp_ws_url, async (cdp) => {
    await leaveMark(cdp, 'cleo')
    await cdp.call('Browser.close')
    await cdp.closed()
  })
  await withCdp(first.cdp_ws_url, (cdp) => hasTabs(cdp))
  await endSession(server, first.session_id)
  const second = await sessionWith({ id: profile.id })
  await withCdp(second.cdp_ws_url, async (cdp) => {
    await hasTabs(cdp)
    assert.deepEqual(await knownAt(cdp, site), everything('cleo'))
  })
  await endSession(server, second.session_id)
})

test('a profile can be attached once to a session without one', async () => {
  const profile = await profileOf('dora')
  const session = await createSession(server)
  const attach = (id: string, wanted: object) =>
    send<Browser>(server, 'PATCH', `/browsers/${id}`, { profile: wanted })
  const two = await Promise.all([
    attach(session.session_id, { id: profile.id, save_changes: true }),
    attach(session.session_id, { id: profile.id }),
  ])
  assert.deepEqual(new Set(two.map(({ status }) => status)), new Set([200, 409]))
  const { body } = two.find(({ status }) => status === 200)!
  assert.equal(body.profile!.id, profile.id)
  assert.equal((await attach(session.session_id, { id: profile.id })).status, 409)
  await withCdp(session.cdp_ws_url, async (cdp) => {
    await hasTabs(cdp)
    assert.deepEqual(await knownAt(cdp, site), everything('dora'))
  })
  const { body: listed } = await send<Browser[]>(server, 'GET', `/browsers?query=${profile.id}`)
  assert.deepEqual(
    listed.map(({ session_id }) => session_id),
    [session.session_id],
  )
  await endSession(server, session.session_id)

  // An empty profile brings nothing: the session keeps its state and saves it.
  const empty = await createProfile(server)
  const used = await createSession(server)
  const cdp = await CdpClient.open(used.cdp_ws_url)
  await leaveMark(cdp, 'emil')
  assert.equal((await attach(used.session_id, { id: empty.id, save_changes: true })).status, 200)
  assert.deepEqual(await knownAt(cdp, site), everything('emil'))
  cdp.terminate()
  await endSession(server, used.session_id)
  const next = await sessionWith({ id: empty.id })
  assert.deepEqual(await known(next), everything('emil'))
  await endSession(server, next.session_id)
})

test('a running session can be saved, and a collision is reported', async () => {
  const profile = await profileOf('fred')
  const one = await sessionWith({ id: profile.id }, { headless: false })
  const other = await sessionWith({ id: profile.id })
  const save = (session: Session, body: object = {}) =>
    send<ProfileVersion>(server, 'POST', `/browsers/${session.session_id}/profile/save`, body)
  let tabs: string[] = []
  await withCdp(one.cdp_ws_url, async (cdp) => {
    await join(cdp, site, 'one')
    tabs = await pagesOf(cdp)
    assert.equal(tabs.length, 2)
    const { status, body } = await save(one)
    assert.equal(status, 200, JSON.stringify(body))
    const { version, is_current, source, based_on, session_id } = body
    assert.deepEqual(
      { version, is_current, source, based_on, session_id },
      { version: 2, is_current: true, source: 'save', based_on: 1, session_id: one.session_id },
    )
    assert.equal((await cdp.closed()).code, 1001)
  })
  await withCdp(one.cdp_ws_url, async (cdp) => {
    await hasTabs(cdp, tabs)
    assert.deepEqual(await knownAt(cdp, site), everything('one'))
    await join(cdp, site, 'one again')
  })
  // It knows its own last version.
  assert.equal((await save(one)).body.version, 3)

  await withCdp(other.cdp_ws_url, (cdp) => join(cdp, site, 'other'))
  const refused = await save(other)
  assert.equal(refused.status, 409)
  assert.match(
    refused.body.message!,
    /started with version 1, but the profile is now at version 3; set force/,
  )
  assert.deepEqual(await known(other), { ...everything('other') })
  const forced = await save(other, { force: true })
  assert.equal(forced.body.version, 4)
  assert.equal(forced.body.conflicts_with, 3)
  const none = await createSession(server)
  assert.equal((await save(none)).status, 409)
  for (const { session_id } of [one, other, none]) await endSession(server, session_id)

  // The overwritten state is a version, and sessions can start from it again.
  const restore = await send(server, 'POST', `/profiles/${profile.id}/versions/3/restore`)
  assert.equal(restore.status, 200)
  const again = await sessionWith({ id: profile.id })
  assert.deepEqual(await known(again), everything('one again'))
  await endSession(server, again.session_id)
  assert.equal((await send(server, 'POST', `/profiles/${profile.id}/versions/99/restore`)).status, 404)
})

test('sessions that end at once each save a version, and the current version is one of them, complete', async () => {
  const profile = await profileOf('gina')
  const names = ['a', 'b', 'c']
  const sessions = await Promise.all(names.map(() => sessionWith({ id: profile.id, save_changes: true })))
  const aside = await createSession(server, {
    profile: { id: profile.id, save_changes: true, on_conflict: 'keep' },
  })
  await Promise.all(
    sessions.map(({ cdp_ws_url }, index) => withCdp(cdp_ws_url, (cdp) => join(cdp, site, names[index]!))),
  )
  await withCdp(aside.cdp_ws_url, (cdp) => join(cdp, site, 'aside'))
  await Promise.all(sessions.map(({ session_id }) => endSession(server, session_id)))
  const saves = await Promise.all(sessions.map(({ session_id }) => whenSaved(server, session_id)))
  assert.deepEqual(new Set(saves.map(({ version }) => version)), new Set([2, 3, 4]))
  for (const { state } of saves) assert.equal(state, 'saved')
  // Kept beside the others, as requested.
  await endSession(server, aside.session_id)
  assert.deepEqual(await whenSaved(server, aside.session_id), { state: 'conflict', version: 5 })

  const versions = await versionsOf(server, profile.id)
  assert.deepEqual(
    versions.map(({ version, is_current, based_on, conflicts_with }) => [
      version,
      is_current,
      based_on,
      conflicts_with,
    ]),
    [
      [5, false, 1, 4],
      [4, true, 1, 3],
      [3, false, 1, 2],
      [2, false, 1, undefined],
      [1, false, undefined, undefined],
    ],
  )
  const last = names[saves.findIndex(({ version }) => version === 4)]!
  const next = await sessionWith({ id: profile.id })
  assert.deepEqual(await known(next), everything(last))
  await endSession(server, next.session_id)
})

test('a download can be imported, and contains no caches', async () => {
  const profile = await profileOf('hugo')
  const packed = await download(profile.id, '')
  const plain = await download(profile.id, '?format=tar')
  assert.deepEqual(zstdDecompressSync(packed), plain)
  for (const name of ['Default/Cookies', 'Default/Local Storage/', 'Default/IndexedDB/', 'Local State']) {
    assert.ok(plain.includes(name), name)
  }
  for (const name of ['Default/Cache/', 'Default/Code Cache/', 'Singleton', 'GPUCache']) {
    assert.ok(!plain.includes(name), name)
  }
  for (const archive of [packed, plain]) {
    const copy = await createProfile(server)
    const answer = await server.fetch(`/profiles/${copy.id}/archive`, {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream' },
      body: new Uint8Array(archive),
    })
    assert.equal(answer.status, 201, await answer.clone().text())
    assert.equal(((await answer.json()) as ProfileVersion).source, 'import')
    const session = await sessionWith({ id: copy.id })
    assert.deepEqual(await known(session), everything('hugo'))
    await endSession(server, session.session_id)
  }
})

test('a session outlives its profile, and reports that it was not saved', async () => {
  const profile = await profileOf('ines')
  const session = await sessionWith({ id: profile.id, save_changes: true })
  assert.equal((await send(server, 'DELETE', `/profiles/${profile.id}`)).status, 204)
  assert.equal((await send(server, 'DELETE', `/profiles/${profile.id}`)).status, 204)
  assert.deepEqual(await known(session), everything('ines'))
  await endSession(server, session.session_id)
  const save = await whenSaved(server, session.session_id)
  assert.deepEqual(save, { state: 'failed', message: 'the profile was deleted' })
  const later = await send(server, 'POST', '/browsers', { headless: true, profile: { id: profile.id } })
  assert.equal(later.status, 400)
})

test('a page that hangs when its tab is restored does not block clients', async () => {
  const profile = await createProfile(server)
  const first = await sessionWith({ id: profile.id, save_changes: true })
  const pages = [
    '<script>onload = () => alert(1)</script>',
    '<script>setTimeout(() => { for (;;); }, 50)</script>',
  ]
  await withCdp(first.cdp_ws_url, async (cdp) => {
    for (const page of pages) {
      await cdp.call('Target.createTarget', { url: `data:text/html,${encodeURIComponent(page)}` })
    }
    await eventually('they are open', async () => (await pagesOf(cdp)).length === 3)
    await new Promise((resolve) => setTimeout(resolve, 500))
  })
  await endSession(server, first.session_id)
  assert.equal((await whenSaved(server, first.session_id)).state, 'saved')
  const second = await sessionWith({ id: profile.id })
  await withCdp(second.cdp_ws_url, async (cdp) => {
    const { targetId } = await cdp.call<{ targetId: string }>('Target.createTarget', { url: 'about:blank' })
    assert.ok(targetId)
  })
  await endSession(server, second.session_id)
})

async function download(id: string, query: string): Promise<Buffer> {
  const answer = await server.fetch(`/profiles/${id}/download${query}`)
  assert.equal(answer.status, 200)
  const bytes = Buffer.from(await answer.arrayBuffer())
  assert.equal(Number(answer.headers.get('content-length')), bytes.length)
  return bytes
}
