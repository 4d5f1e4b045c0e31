// A kill at any point of an upload or a delete leaves the extension complete or removed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { marker } from '../fixtures/extensions.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'

interface Listed {
  readonly id: string
  readonly name: string
}

async function upload(server: TestServer, name: string): Promise<number> {
  const form = new FormData()
  form.set('name', name)
  form.set('file', new Blob([new Uint8Array(marker())]), 'x.zip')
  return (await server.fetch('/extensions', { method: 'POST', body: form })).status
}

const list = async (server: TestServer) => (await send<Listed[]>(server, 'GET', '/extensions')).body

/** Every listed extension can be downloaded, and every row has its bytes. */
async function assertWhole(server: TestServer): Promise<void> {
  for (const { id } of await list(server)) {
    const answer = await server.fetch(`/extensions/${id}`)
    assert.equal(answer.status, 200)
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(marker()))
  }
  const rows = await query<{ blob_id: string }>(
    server,
    `SELECT e.blob_id FROM extensions e FULL JOIN blobs b ON b.id = e.blob_id
     WHERE (b.id IS NULL AND e.deleted_at IS NULL) OR (e.id IS NULL AND b.kind = 'extension')`,
  )
  assert.deepEqual(rows, [])
}

test('a killed upload is complete or absent, and its name can be used again', async (t) => {
  const dataDir = tempDir(t)
  for (const at of ['blob-written', 'blob-named', 'extension-kept', 'before-commit', 'after-commit']) {
    const doomed = await startServer(t, { dataDir, env: { BERTH_CRASH_AT: at } })
    await assert.rejects(upload(doomed, at), at)
    await doomed.stop()
    const server = await startServer(t, { dataDir })
    const isThere = at === 'after-commit'
    assert.equal(
      (await list(server)).some(({ name }) => name === at),
      isThere,
      at,
    )
    assert.equal(await upload(server, at), isThere ? 409 : 201, at)
    await assertWhole(server)
    await server.stop()
  }
})

test('a killed delete is done or not, and can be repeated', async (t) => {
  const dataDir = tempDir(t)
  for (const at of ['before-commit', 'after-commit', 'extension-deleted']) {
    const first = await startServer(t, { dataDir })
    assert.equal(await upload(first, at), 201)
    const { id } = (await list(first)).find(({ name }) => name === at)!
    await first.stop()
    const doomed = await startServer(t, { dataDir, env: { BERTH_CRASH_AT: at } })
    await assert.rejects(send(doomed, 'DELETE', `/extensions/${id}`), at)
    await doomed.stop()
    const server = await startServer(t, { dataDir })
    await assertWhole(server)
    assert.equal(
      (await list(server)).some(({ name }) => name === at),
      at === 'before-commit',
      at,
    )
    assert.equal((await send(server, 'DELETE', `/extensions/${id}`)).status, 204)
    assert.equal(await upload(server, at), 201)
    await server.stop()
  }
})
