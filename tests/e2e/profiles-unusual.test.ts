// Profiles in unusual cases: browsers that close, sessions that end at once, pages that hang, profiles that are deleted.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Browser } from '@berth/contracts/browsers'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { everything, join, knownAt, pagesOf } from '../fixtures/member-site.ts'
import { startForProfiles } from '../fixtures/profile-sessions.ts'
import { createProfile, endSession, versionsOf, whenSaved } from '../fixtures/profiles.ts'
import { createSession, send } from '../fixtures/sessions.ts'

const { site, server, leaveMark, hasTabs, known, sessionWith, profileOf } = await startForProfiles({ after })

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
