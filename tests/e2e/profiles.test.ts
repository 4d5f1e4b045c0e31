// A profile passes the state of one session to the next.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import type { ProfileVersion } from '@berth/contracts/profiles'
import { withCdp } from '../fixtures/cdp.ts'
import { everything, join, knownAt, nothing, pagesOf } from '../fixtures/member-site.ts'
import { startForProfiles } from '../fixtures/profile-sessions.ts'
import { createProfile, endSession, readProfile, versionsOf, whenSaved } from '../fixtures/profiles.ts'
import { createSession, endsAs, send, type Session } from '../fixtures/sessions.ts'

const { site, server, leaveMark, hasTabs, known, sessionWith, profileOf } = await startForProfiles({ after })

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

async function download(id: string, query: string): Promise<Buffer> {
  const answer = await server.fetch(`/profiles/${id}/download${query}`)
  assert.equal(answer.status, 200)
  const bytes = Buffer.from(await answer.arrayBuffer())
  assert.equal(Number(answer.headers.get('content-length')), bytes.length)
  return bytes
}
