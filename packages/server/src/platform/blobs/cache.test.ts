import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { pino } from 'pino'
import { newId } from '@berth/kit/ids'
import { BlobCache } from './cache.ts'

const log = pino({ level: 'silent' })

function newRoot(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'berth-test-cache-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  return root
}

/** A blob in a store that counts how often it is fetched. */
function newBlob(sizeBytes = 1_000) {
  const content = randomBytes(sizeBytes)
  const blob = { id: newId(), sizeBytes, sha256: createHash('sha256').update(content).digest('hex') }
  const fetched = { count: 0 }
  const fetch = () => {
    fetched.count++
    return Promise.resolve(Readable.from([content], { objectMode: false }))
  }
  return { blob, content, fetched, fetch }
}

const failing = () => Promise.reject(new Error('the store is away'))

const filesOf = (root: string) => readdirSync(root).filter((name) => name !== 'unfinished')

test('a blob is fetched once, by many at the same time and after a restart', async (t) => {
  const root = newRoot(t)
  const cache = await BlobCache.open(root, { maxBytes: 10_000, log })
  const { blob, content, fetched, fetch } = newBlob()
  const read = async (from: BlobCache, range?: { start: number; end: number }) =>
    buffer((await from.read(blob, range, fetch))!)
  const all = await Promise.all(Array.from({ length: 10 }, () => read(cache)))
  for (const each of all) assert.ok(each.equals(content))
  assert.ok((await read(cache, { start: 5, end: 9 })).equals(content.subarray(5, 10)))
  const next = await BlobCache.open(root, { maxBytes: 10_000, log })
  assert.ok((await read(next)).equals(content))
  assert.equal(fetched.count, 1)
})

test('it never has more than it may, and the least recently used copy goes first', async (t) => {
  const root = newRoot(t)
  const cache = await BlobCache.open(root, { maxBytes: 3_000, log })
  const blobs = Array.from({ length: 5 }, () => newBlob())
  for (const { blob, fetch } of blobs.slice(0, 3)) await (await cache.read(blob, undefined, fetch))!.toArray()
  // Used again, so the second one is now the oldest.
  await new Promise((resolve) => setTimeout(resolve, 5))
  await (await cache.read(blobs[0]!.blob, undefined, blobs[0]!.fetch))!.toArray()
  await (await cache.read(blobs[3]!.blob, undefined, blobs[3]!.fetch))!.toArray()
  assert.deepEqual(filesOf(root).toSorted(), [0, 2, 3].map((index) => blobs[index]!.blob.id).toSorted())
  const large = newBlob(2_000)
  assert.equal(await cache.read(large.blob, undefined, large.fetch), undefined, 'more than half of the cache')
  assert.equal(large.fetched.count, 0)
  await cache.remove(blobs[3]!.blob.id)
  assert.equal(filesOf(root).length, 2)
  const smaller = await BlobCache.open(root, { maxBytes: 1_000, log })
  assert.equal(filesOf(root).length, 1, 'a smaller setting removes what is too much')
  await smaller.close()
})

test('copies that are damaged, and what a kill left, are not used', async (t) => {
  const root = newRoot(t)
  const { blob, content, fetched, fetch } = newBlob()
  const cache = await BlobCache.open(root, { maxBytes: 10_000, log })
  await (await cache.read(blob, undefined, fetch))!.toArray()
  writeFileSync(join(root, blob.id), randomBytes(1_000))
  writeFileSync(join(root, 'unfinished', 'half'), 'half')
  const next = await BlobCache.open(root, { maxBytes: 10_000, log })
  assert.deepEqual(readdirSync(join(root, 'unfinished')), [])
  assert.ok((await buffer((await next.read(blob, undefined, fetch))!)).equals(content))
  assert.equal(fetched.count, 2)
  rmSync(join(root, blob.id))
  assert.equal(
    await next.read(blob, undefined, fetch),
    undefined,
    'a copy that is gone is read from the store',
  )
  assert.ok((await buffer((await next.read(blob, undefined, fetch))!)).equals(content), 'and copied again')
})

test('a blob that is not what its row says is no copy, and a store that fails is asked by the reader itself', async (t) => {
  const root = newRoot(t)
  const cache = await BlobCache.open(root, { maxBytes: 10_000, log })
  const { blob, fetch } = newBlob()
  assert.equal(await cache.read({ ...blob, sha256: '0'.repeat(64) }, undefined, fetch), undefined)
  assert.equal(await cache.read({ ...blob, sizeBytes: 10 }, undefined, fetch), undefined)
  assert.equal(await cache.read(blob, undefined, failing), undefined)
  assert.deepEqual(filesOf(root), [])
  assert.deepEqual(readdirSync(join(root, 'unfinished')), [])
})
