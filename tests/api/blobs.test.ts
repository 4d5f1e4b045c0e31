import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { pino } from 'pino'
import { Blobs } from '@berth/server/platform/blobs/blobs'
import { DirectoryBlobStore } from '@berth/server/platform/blobs/directory-store'
import { BlobMissing, BlobTooLarge } from '@berth/server/platform/blobs/store'
import { startDatabase } from '../fixtures/database.ts'
import { tempDir } from '../fixtures/server.ts'

const HOUR_MS = 3_600_000

async function newBlobs(t: TestContext) {
  const { db } = await startDatabase(t)
  const root = tempDir(t)
  const store = await DirectoryBlobStore.open(root)
  return { db, root, store, blobs: new Blobs({ store, log: pino({ level: 'silent' }) }) }
}

const filesBelow = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)

const options = (maxBytes = 10_000_000) => ({ maxBytes, signal: new AbortController().signal })

test('a blob is read whole and in ranges, with its size and hash in the row', async (t) => {
  const { blobs, db } = await newBlobs(t)
  const content = randomBytes(1_000_000)
  const blob = await blobs.put(
    Readable.from([content.subarray(0, 300_000), content.subarray(300_000)]),
    options(),
  )
  await blobs.record(db, 'test', blob)
  assert.equal(blob.sizeBytes, content.length)
  assert.equal(blob.sha256, createHash('sha256').update(content).digest('hex'))
  assert.ok((await buffer(await blobs.read(blob.id))).equals(content))
  assert.ok(
    (await buffer(await blobs.read(blob.id, { start: 10, end: 19 }))).equals(content.subarray(10, 20)),
  )
  const [row] = await db.selectFrom('blobs').selectAll().execute()
  assert.deepEqual([row?.id, row?.sha256, row?.size_bytes], [blob.id, blob.sha256, '1000000'])
  await blobs.remove(db, blob.id)
  await assert.rejects(blobs.read(blob.id), BlobMissing)
  await blobs.remove(db, blob.id)
})

test('a put that is too large, fails, or is aborted leaves no file', async (t) => {
  const { blobs, root } = await newBlobs(t)
  await assert.rejects(blobs.put(Readable.from([randomBytes(100)]), options(99)), BlobTooLarge)
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('half')
      throw new Error('the connection was lost')
    })(),
  )
  await assert.rejects(blobs.put(broken, options()), /the connection was lost/)
  const aborting = new AbortController()
  const endless = new Readable({ read() {} })
  const put = blobs.put(endless, { maxBytes: 10, signal: aborting.signal })
  endless.push('x')
  aborting.abort()
  await assert.rejects(put, { name: 'AbortError' })
  assert.deepEqual(filesBelow(root), [])
})

test('ids cannot name a path outside the store', async (t) => {
  const store = await DirectoryBlobStore.open(tempDir(t))
  for (const id of ['../../etc/passwd', '..', 'a/b', 'A'.repeat(24), '', 'x\0y']) {
    await assert.rejects(store.read(id), /Cannot use/)
  }
})

test('the sweep removes the remains of a crash, keeps files with a row, and reports missing ones', async (t) => {
  const { blobs, db, root, store } = await newBlobs(t)
  const kept = await blobs.put(Readable.from(['kept']), options())
  await blobs.record(db, 'test', kept)
  const young = await blobs.put(Readable.from(['its row is about to be written']), options())
  const lost = await blobs.put(Readable.from(['lost']), options())
  await blobs.record(db, 'test', lost)
  await store.remove(lost.id)
  const orphan = await blobs.put(Readable.from(['orphan']), options())
  const old = new Date(Date.now() - 2 * HOUR_MS)
  utimesSync(join(root, orphan.id.slice(0, 2), orphan.id), old, old)
  const unfinished = join(root, 'unfinished', 'half-a-blob')
  writeFileSync(unfinished, 'half')
  utimesSync(unfinished, old, old)

  assert.deepEqual(await blobs.sweep(db), { removed: 2, missing: [lost.id] })
  assert.deepEqual(filesBelow(root).toSorted(), [kept.id, young.id].toSorted())
})
