// The resource `profiles` in each version of the published client.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { startServer } from '../fixtures/server.ts'
import { client55, client70, client84 } from './versions.ts'

const server = await startServer({ after }, { hasRealInstances: true })

for (const [version, newClient] of Object.entries({
  '0.55.0': client55,
  '0.70.0': client70,
  '0.84.0': client84,
})) {
  describe(`client ${version}`, () => {
    const client = newClient(server)
    const name = `profile.of-${version}`

    test('creates, finds, lists and deletes', async () => {
      const profile = await client.profiles.create({ name })
      assert.match(profile.id, /^[a-z][a-z0-9]{23}$/)
      assert.equal(profile.name, name)
      assert.ok(Math.abs(Date.parse(profile.created_at) - Date.now()) < 5_000)
      assert.equal((await client.profiles.retrieve(profile.id)).name, name)
      assert.equal((await client.profiles.retrieve(name)).id, profile.id)
      await assert.rejects(client.profiles.create({ name }), { status: 409 })
      const unnamed = await client.profiles.create({})
      assert.equal(unnamed.name, null)
      const found: string[] = []
      for await (const each of client.profiles.list({ query: name.toUpperCase() })) found.push(each.id)
      assert.deepEqual(found, [profile.id])
      const paged: string[] = []
      for await (const each of client.profiles.list({ limit: 1 })) paged.push(each.id)
      assert.deepEqual(paged.slice(0, 2), [unnamed.id, profile.id])
      await client.profiles.delete(name)
      await client.profiles.delete(unnamed.id)
      await client.profiles.delete(unnamed.id)
      await assert.rejects(client.profiles.retrieve(name), { status: 404 })
    })

    test('saves a session into a profile, downloads it, and starts another from it', async () => {
      const profile = await client.profiles.create({ name })
      assert.equal((await client.profiles.download(name)).status, 202)
      const first = await client.browsers.create({
        headless: true,
        profile: { name, save_changes: true },
      })
      assert.equal(first.profile!.id, profile.id)
      assert.equal(first.profile!.name, name)
      await client.browsers.deleteByID(first.session_id)
      const answer = await client.profiles.download(profile.id)
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('content-type'), 'application/octet-stream')
      const tar = zstdDecompressSync(Buffer.from(await answer.arrayBuffer()))
      assert.ok(tar.includes('Default/Preferences'))
      const second = await client.browsers.create({ headless: true, profile: { id: profile.id } })
      assert.ok((await client.browsers.retrieve(second.session_id)).profile!.updated_at)
      await client.browsers.deleteByID(second.session_id)
      await client.profiles.delete(name)
    })
  })
}

test('client 0.84.0 renames, filters by the exact name, attaches by PATCH and downloads plain tar', async () => {
  const client = client84(server)
  const profile = await client.profiles.create({ name: 'before' })
  const other = await client.profiles.create({ name: 'taken' })
  await assert.rejects(client.profiles.update('before', { name: 'taken' }), { status: 409 })
  const renamed = await client.profiles.update('before', { name: 'after' })
  assert.equal(renamed.id, profile.id)
  assert.ok(Date.parse(renamed.updated_at!) > Date.parse(profile.updated_at!))
  const exact: string[] = []
  for await (const each of client.profiles.list({ name: 'after' })) exact.push(each.id)
  assert.deepEqual(exact, [profile.id])
  for await (const _ of client.profiles.list({ name: 'afte' })) assert.fail('only the exact name')

  const session = await client.browsers.create({ headless: true })
  assert.equal(session.profile, undefined)
  const wanted = { profile: { name: 'after', save_changes: true } }
  const attached = await client.browsers.update(session.session_id, wanted)
  assert.equal(attached.profile!.id, profile.id)
  await assert.rejects(client.browsers.update(session.session_id, wanted), { status: 409 })
  await client.browsers.deleteByID(session.session_id)
  const answer = await client.profiles.download('after', { format: 'tar' })
  assert.ok(
    Buffer.from(await answer.arrayBuffer())
      .subarray(257, 262)
      .equals(Buffer.from('ustar')),
  )
  await client.profiles.delete(profile.id)
  await client.profiles.delete(other.id)
})
