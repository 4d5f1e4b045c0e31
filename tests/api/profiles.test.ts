// Profiles without browsers: names, projects and versions. Instances are fake; their user-data directory is the
// imported one.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Browser } from '@berth/contracts/browsers'
import type { Profile, ProfileVersion } from '@berth/contracts/profiles'
import { TAR_END, tarHead, tarPadding } from '@berth/codecs/tar/writer'
import { createProfile, endSession, readProfile, versionsOf, whenSaved } from '../fixtures/profiles.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, query, send } from '../fixtures/sessions.ts'
import { isFull } from '../tiers.ts'

const server = await startServer({ after }, { env: { BERTH_PROFILE_VERSIONS: '3' } })

function archiveWith(text: string): Buffer {
  const content = Buffer.from(text)
  const head = tarHead({ path: 'Default/note', kind: 'file', size: content.length, mtimeSeconds: 0 })
  return Buffer.concat([head, content, tarPadding(content.length), TAR_END])
}

async function importInto(id: string, text: string): Promise<ProfileVersion> {
  const answer = await server.fetch(`/profiles/${id}/archive`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: new Uint8Array(archiveWith(text)),
  })
  assert.equal(answer.status, 201)
  return (await answer.json()) as ProfileVersion
}

async function textOf(id: string, version = ''): Promise<string> {
  const answer = await server.fetch(`/profiles/${id}/download?format=tar${version}`)
  assert.equal(answer.status, 200)
  const tar = Buffer.from(await answer.arrayBuffer())
  return /text-\w+/.exec(tar.toString('latin1'))![0]
}

const blobCount = () =>
  readdirSync(join(server.dataDir, 'blobs'), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  ).length

test('a name is unique in its project, and free again after a delete', async () => {
  const project = await send<{ id: string }>(server, 'POST', '/org/projects', { name: 'Second' })
  const there = { 'x-kernel-project-id': project.body.id }
  const first = await createProfile(server, 'Ada Lovelace/1')
  assert.equal(
    (await send(server, 'POST', '/profiles', { name: 'Ada Lovelace/1' })).body.code,
    'already_exists',
  )
  const second = await send<Profile>(server, 'POST', '/profiles', { name: 'Ada Lovelace/1' }, there)
  assert.equal(second.status, 201)
  const path = `/profiles/${encodeURIComponent('Ada Lovelace/1')}`
  assert.equal((await send<Profile>(server, 'GET', path, undefined, there)).body.id, second.body.id)
  assert.equal((await send(server, 'DELETE', path, undefined, there)).status, 204)
  assert.equal((await send(server, 'DELETE', path, undefined, there)).status, 404)
  assert.equal((await send(server, 'DELETE', `/profiles/${second.body.id}`, undefined, there)).status, 204)
  assert.equal((await readProfile(server, first.id)).name, 'Ada Lovelace/1')
  assert.equal((await send(server, 'GET', path, undefined, there)).status, 404)
  // A profile whose name is the id of another is found only by its own id.
  const confusing = await createProfile(server, first.id)
  assert.equal((await readProfile(server, first.id)).id, first.id)
  for (const { id } of [first, confusing]) await send(server, 'DELETE', `/profiles/${id}`)
  const left = await send(server, 'DELETE', '/org/projects/Second')
  assert.equal(left.status, 204)
})

test('only a limited number of versions is kept, including the current one, and their bytes are removed with them', async () => {
  const before = blobCount()
  const { id } = await createProfile(server)
  for (const letter of ['a', 'b', 'c', 'd']) await importInto(id, `text-${letter}`)
  const numbers = async () => (await versionsOf(server, id)).map(({ version }) => version)
  assert.deepEqual(await numbers(), [4, 3, 2])
  assert.equal(blobCount(), before + 3)
  assert.equal(await textOf(id), 'text-d')
  assert.equal(await textOf(id, '&version=2'), 'text-b')
  assert.equal((await server.fetch(`/profiles/${id}/download?version=1`)).status, 404)

  const restored = await send<Profile>(server, 'POST', `/profiles/${id}/versions/2/restore`)
  assert.equal(restored.body.version, 2)
  assert.equal(await textOf(id), 'text-b')
  // Versions that sessions start from are kept, however old.
  for (let saves = 0; saves < 3; saves++) {
    const session = await createSession(server, { profile: { id, save_changes: true, on_conflict: 'keep' } })
    await importBeside(id, session.session_id)
  }
  const kept = await versionsOf(server, id)
  assert.equal(kept.filter(({ is_current }) => is_current).length, 1)
  assert.ok(kept.length <= 4)
  assert.equal(blobCount(), before + kept.length)

  assert.equal((await send(server, 'DELETE', `/profiles/${id}`)).status, 204)
  assert.equal(blobCount(), before)
  const [{ count }] = (await query<{ count: number }>(
    server,
    'SELECT count(*)::int AS count FROM profile_versions WHERE profile_id = $1',
    [id],
  )) as [{ count: number }]
  assert.equal(count, 0)
})

/** The session collides with a newer version and is saved beside it. */
async function importBeside(id: string, sessionId: string): Promise<void> {
  const { version } = await importInto(id, 'text-beside')
  await endSession(server, sessionId)
  const save = await whenSaved(server, sessionId)
  assert.deepEqual(save, { state: 'conflict', version: version + 1 })
  const current = await readProfile(server, id)
  assert.equal(current.version, version)
}

test('a session shows its profile, and the outcome of its save', async () => {
  const profile = await createProfile(server, 'shown')
  const session = await createSession(server, { profile: { name: 'shown', save_changes: true } })
  const get = async () =>
    (await send<Browser>(server, 'GET', `/browsers/${session.session_id}?include_deleted=true`)).body
  const live = await get()
  assert.equal(live.profile!.id, profile.id)
  assert.equal(live.profile!.name, 'shown')
  assert.equal(live.profile_save_changes, true)
  assert.equal(live.profile_save, undefined)
  assert.equal((await readProfile(server, 'shown')).last_used_at !== undefined, true)
  // It refers to its profile by id.
  assert.equal((await send(server, 'PATCH', '/profiles/shown', { name: 'renamed' })).status, 200)
  assert.equal((await get()).profile!.name, 'renamed')
  await endSession(server, session.session_id)
  assert.deepEqual(await whenSaved(server, session.session_id), { state: 'saved', version: 1 })
  const [version] = await versionsOf(server, 'renamed')
  assert.equal(version!.session_id, session.session_id)
  assert.equal(version!.source, 'session')
  const plain = await createSession(server, { profile: { id: profile.id } })
  await endSession(server, plain.session_id)
  const ended = await send<Browser>(server, 'GET', `/browsers/${plain.session_id}?include_deleted=true`)
  assert.equal(ended.body.profile_save, undefined)
  assert.equal(ended.body.profile_save_changes, false)
})

const download = (id: string, version = '') =>
  server.fetch(`/profiles/${id}/download?format=tar${version}`).then(({ status }) => status)

/** A session that has ended, as if another server still saved it. */
async function savingElsewhere(): Promise<{ profileId: string; path: string; finish: () => Promise<void> }> {
  const { id } = await createProfile(server)
  await importInto(id, 'text-before')
  const { session_id } = await createSession(server, { profile: { id, save_changes: true } })
  await endSession(server, session_id)
  await query(
    server,
    `INSERT INTO servers (id, address, seen_at) VALUES ('elsewhere', NULL, now() + interval '1 day')
      ON CONFLICT DO NOTHING`,
  )
  const set = (state: string) =>
    query(server, `UPDATE browsers SET profile_save = $2, server_id = 'elsewhere' WHERE id = $1`, [
      session_id,
      state,
    ])
  await set('saving')
  return {
    profileId: id,
    path: `/browsers/${session_id}`,
    finish: async () => {
      await set('saved')
    },
  }
}

test('the end of a session is answered when it is saved', async () => {
  const { id } = await createProfile(server)
  const { session_id } = await createSession(server, { profile: { id, save_changes: true } })
  await endSession(server, session_id)
  const path = `/browsers/${session_id}?include_deleted=true`
  const { profile_save } = (await send<Browser>(server, 'GET', path)).body
  assert.deepEqual(profile_save, { state: 'saved', version: 1 })
  assert.equal(await download(id), 200)
})

test('while a save is under way, its session ends and its profile downloads after it', async () => {
  const { profileId, path, finish } = await savingElsewhere()
  let answered = 0
  const ended = send(server, 'DELETE', path).finally(() => answered++)
  const downloaded = download(profileId).finally(() => answered++)
  assert.equal(await download(profileId, '&version=1'), 200, 'a version that is named never changes')
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  assert.equal(answered, 0)
  await finish()
  assert.equal((await ended).status, 204)
  assert.equal(await downloaded, 200)
})

if (isFull()) {
  test('a save that takes for ever delays an answer by less than a minute, and no old archive is served', async () => {
    const { profileId, path, finish } = await savingElsewhere()
    const begun = performance.now()
    const timed = (status: number) => ({ status, seconds: (performance.now() - begun) / 1000 })
    const [ended, downloaded] = await Promise.all([
      send(server, 'DELETE', path).then(({ status }) => timed(status)),
      download(profileId).then(timed),
    ])
    assert.equal(ended.status, 204)
    assert.ok(ended.seconds > 40 && ended.seconds < 60, `${ended.seconds} s`)
    assert.equal(downloaded.status, 202)
    assert.ok(downloaded.seconds < 40, `${downloaded.seconds} s`)
    await finish()
    assert.equal(await download(profileId), 200)
  })
}

test('a create with an Idempotency-Key makes one profile', async () => {
  const headers = { 'idempotency-key': 'one-profile' }
  const [first, again] = [
    await send<Profile>(server, 'POST', '/profiles', { name: 'once' }, headers),
    await send<Profile>(server, 'POST', '/profiles', { name: 'once' }, headers),
  ]
  assert.equal(first.status, 201)
  assert.deepEqual(again.body, first.body)
})
