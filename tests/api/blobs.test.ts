import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { Blobs } from '@berth/server/platform/blobs/blobs'
import { DirectoryBlobStore } from '@berth/server/platform/blobs/directory-store'
import { registerStore } from '@berth/server/platform/blobs/registry'
import { BlobMissing, BlobTooLarge } from '@berth/server/platform/blobs/store'
import { conformance } from '../fixtures/blob-store.ts'
import { startDatabase } from '../fixtures/database.ts'
import { tempDir } from '../fixtures/server.ts'

const HOUR_MS = 3_600_000

async function newBlobs(t: TestContext) {
  const { db } = await startDatabase(t)
  const root = tempDir(t)
  const store = await DirectoryBlobStore.open(root)
  return {
    db,
    root,
    store,
    blobs: new Blobs({ store, storeId: await store.identity(), log: pino({ level: 'silent' }) }),
  }
}

const filesBelow = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .filter((name) => name !== 'store-id')

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

describe('the store in a directory', () => {
  conformance(async (t) => {
    const root = tempDir(t)
    return {
      store: await DirectoryBlobStore.open(root),
      remains: () => Promise.resolve(filesBelow(root)),
      again: () => DirectoryBlobStore.open(root),
    }
  })
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

test('blobs from before stores had names get the name of the store that has them', async (t) => {
  const { blobs, db, store } = await newBlobs(t)
  const own = await blobs.put(Readable.from(['own']), options())
  for (const [id, of] of [
    [own.id, null],
    ['elsewhere', 'dir_of_another_server'],
  ] as const) {
    await db
      .insertInto('blobs')
      .values({ id, kind: 'test', sha256: own.sha256, size_bytes: '3', store: of })
      .execute()
  }
  assert.deepEqual(await blobs.sweep(db), { removed: 0, missing: [] }, 'those of others are not missing here')
  const rows = await db.selectFrom('blobs').select(['id', 'store']).orderBy('id').execute()
  assert.deepEqual(
    new Map(rows.map((row) => [row.id, row.store])),
    new Map([
      ['elsewhere', 'dir_of_another_server'],
      [own.id, await store.identity()],
    ]),
  )
})

const directory = (name: string) => ({ id: `dir_${name}`, location: `/srv/${name}`, isRemote: false })
const bucket = (name: string) => ({ id: `s3_${name}`, location: `s3://${name}/`, isRemote: true })

test('servers may each have a directory, but not one a bucket and another a directory', async (t) => {
  const { db, pool } = await startDatabase(t)
  await registerStore(pool, 'srv_one', directory('one'))
  await registerStore(pool, 'srv_two', directory('two'))
  await assert.rejects(
    registerStore(pool, 'srv_three', bucket('b')),
    /with files in s3:\/\/b\/: server srv_\w+ runs with \/srv\/\w+; set the same BERTH_BLOBS on all servers/,
  )
  await sql`UPDATE servers SET seen_at = now() - interval '2 minutes'`.execute(db)
  await registerStore(pool, 'srv_three', bucket('b'))
  await registerStore(pool, 'srv_four', bucket('b'))
  await assert.rejects(registerStore(pool, 'srv_one', directory('one')), /runs with s3:\/\/b\//)
  await assert.rejects(registerStore(pool, 'srv_five', bucket('other')), /runs with s3:\/\/b\//)
  // Alone, a server may change its store while nothing is stored.
  await sql`UPDATE servers SET seen_at = now() - interval '2 minutes' WHERE id <> 'srv_three'`.execute(db)
  await registerStore(pool, 'srv_three', bucket('other'))
  const blob = { id: 'abcdefgh', kind: 'test', sha256: '', size_bytes: '3' }
  await db
    .insertInto('blobs')
    .values({ ...blob, store: 's3_other' })
    .execute()
  for (const store of [bucket('b'), directory('three')]) {
    await assert.rejects(
      registerStore(pool, 'srv_three', store),
      /1 of its files are in s3:\/\/other\/; .* move them with npm run admin -- move-blobs/,
    )
  }
  await db.updateTable('blobs').set({ store: null }).execute()
  await assert.rejects(
    registerStore(pool, 'srv_three', bucket('other')),
    /1 of its files are in the data directory of a server/,
  )
  await registerStore(pool, 'srv_three', directory('three'))
})
