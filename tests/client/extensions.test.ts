// The resource `extensions` in each version of the published client.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { toFile } from 'kernel-sdk-0-84'
import { autoconsent, crxOf, marker } from '../fixtures/extensions.ts'
import { startServer } from '../fixtures/server.ts'
import { startStore } from '../fixtures/chrome-store.ts'
import { client55, client70, client84 } from './versions.ts'

const store = await startStore({ after })
const server = await startServer({ after }, { env: store.env })

/** As a client that reads a local file. */
const fileOf = (bytes: Buffer, name = 'extension.zip') => toFile(bytes, name)

for (const [version, newClient] of Object.entries({
  '0.55.0': client55,
  '0.70.0': client70,
  '0.84.0': client84,
})) {
  describe(`client ${version}`, () => {
    const { extensions } = newClient(server)
    const prefix = `of-${version}-`

    test('uploads, gets, lists, downloads and deletes', async () => {
      const bytes = autoconsent()
      const name = `${prefix}autoconsent`
      const uploaded = await extensions.upload({ file: await fileOf(bytes), name })
      assert.match(uploaded.id, /^[a-z][a-z0-9]{23}$/)
      assert.equal(uploaded.name, name)
      assert.equal(uploaded.size_bytes, bytes.length)
      assert.ok(Math.abs(Date.parse(uploaded.created_at) - Date.now()) < 60_000)
      const { checksum } = uploaded as { checksum?: string }
      assert.equal(checksum, createHash('sha256').update(bytes).digest('hex'))
      assert.equal(uploaded.last_used_at ?? null, null)

      // A plain list before 0.62, pages since then.
      const answered = await (extensions.list() as PromiseLike<unknown>)
      const listed: { id: string }[] = Array.isArray(answered)
        ? (answered as { id: string }[])
        : (answered as { getPaginatedItems(): { id: string }[] }).getPaginatedItems()
      assert.ok(listed.some(({ id }) => id === uploaded.id))

      for (const reference of [uploaded.id, name]) {
        const answer = await extensions.download(reference)
        assert.equal(answer.status, 200)
        assert.equal(answer.headers.get('content-type'), 'application/zip')
        assert.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes))
      }
      await extensions.delete(name)
      // Again, like a client that lost the answer.
      await extensions.delete(uploaded.id)
      await assert.rejects(extensions.download(uploaded.id), { status: 404 })
      await assert.rejects(extensions.delete(name), { status: 404 })
    })

    test('a name in use is refused, and free again after a delete', async () => {
      const name = `${prefix}taken`
      const first = await extensions.upload({ file: await fileOf(marker()), name })
      await assert.rejects(extensions.upload({ file: await fileOf(marker('other')), name }), { status: 409 })
      await extensions.delete(first.id)
      const second = await extensions.upload({ file: await fileOf(marker('other')), name })
      assert.notEqual(second.id, first.id)
      await extensions.upload({ file: await fileOf(marker()) })
    })

    test('fetches an extension from the store that it can upload', async () => {
      const url = `https://chromewebstore.google.com/detail/ours/${store.id}`
      const answer = await extensions.downloadFromChromeStore({ url, os: 'linux' })
      assert.equal(answer.headers.get('content-type'), 'application/zip')
      const archive = Buffer.from(await answer.arrayBuffer())
      const uploaded = await extensions.upload({ file: await fileOf(archive), name: `${prefix}store` })
      assert.equal(uploaded.size_bytes, archive.length)
      await assert.rejects(extensions.downloadFromChromeStore({ url: 'https://example.com/detail/x' }), {
        status: 400,
      })
      const absent = `https://chrome.google.com/webstore/detail/x/${'a'.repeat(32)}`
      await assert.rejects(extensions.downloadFromChromeStore({ url: absent }), { status: 404 })
    })
  })
}

test('metadata shows the known fields, also of a crx', async () => {
  const { extensions } = client84(server)
  const { crx } = crxOf(marker())
  const uploaded = await extensions.upload({ file: await fileOf(crx, 'x.crx'), name: 'signed' })
  assert.equal(uploaded.size_bytes, crx.length)
  const got = await extensions.get('signed')
  assert.deepEqual(got, uploaded)
  const { manifest } = got as unknown as { manifest: object }
  assert.deepEqual(manifest, { name: 'Ours', version: '1.0.0' })
  // As a zip archive that contains its publisher's key.
  const answer = await extensions.download('signed')
  const archive = Buffer.from(await answer.arrayBuffer())
  assert.equal(archive.toString('latin1', 0, 2), 'PK')
  assert.equal(answer.headers.get('content-length'), String(archive.length))
  await extensions.upload({ file: await fileOf(archive), name: 'signed-again' })
})

test('lists are paged, and searched by name and id', async () => {
  const { extensions } = client84(server)
  const named = await extensions.upload({ file: await fileOf(marker()), name: 'needle.in-hay_stack' })
  const page = await extensions.list({ limit: 2 })
  assert.equal(page.getPaginatedItems().length, 2)
  assert.ok(page.hasNextPage())
  for (const query of [{ query: 'IN-HAY' }, { query: named.id }, { name: 'needle.in-hay_stack' }]) {
    const found = (await extensions.list(query)).getPaginatedItems()
    assert.deepEqual(
      found.map(({ id }) => id),
      [named.id],
      JSON.stringify(query),
    )
  }
  assert.equal((await extensions.list({ name: 'needle' })).getPaginatedItems().length, 0)
})

test('a project with extensions is not empty', async () => {
  const client = client84(server)
  const project = await client.projects.create({ name: 'with an extension' })
  const inside = client84(server, { headers: { 'X-Kernel-Project-Id': project.id } })
  const { id } = await inside.extensions.upload({ file: await fileOf(marker()), name: 'shared-name' })
  await assert.rejects(client.projects.delete(project.id), { status: 409, message: /1 extensions/ })
  await inside.extensions.delete(id)
  await client.projects.delete(project.id)
})
