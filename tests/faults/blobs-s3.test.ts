// Blobs in a real S3 server, Ceph: what every store must do, and what happens when the network or the store fails.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { GetObjectCommand, ListMultipartUploadsCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { pino } from 'pino'
import { newId } from '@berth/kit/ids'
import { Blobs } from '@berth/server/platform/blobs/blobs'
import { openBlobStore } from '@berth/server/platform/blobs/open-store'
import { BlobExists, BlobStoreFailure, type BlobStore } from '@berth/server/platform/blobs/store'
import { loadConfig } from '@berth/server/config/config'
import { conformance, options, piecesOf, sha256 } from '../fixtures/blob-store.ts'
import { startCeph } from '../fixtures/ceph.ts'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { startDatabase } from '../fixtures/database.ts'
import { eventually } from '../fixtures/host.ts'
import { TcpProxy } from '../fixtures/tcp-proxy.ts'

const MB = 1024 * 1024
const owner = { after }
const ceph = await startCeph(owner)
const BUCKET = 'blobs'
await ceph.createBucket(BUCKET)
const log = pino({ level: 'silent' })

const settingsOf = (env: Record<string, string>) => ({
  BERTH_BLOBS: `s3://${BUCKET}`,
  BERTH_S3_ENDPOINT: ceph.url,
  BERTH_S3_ACCESS_KEY_ID: ceph.accessKeyId,
  BERTH_S3_SECRET_ACCESS_KEY: ceph.secretAccessKey,
  ...env,
})

async function openStore(t: Owner, env: Record<string, string> = {}): Promise<BlobStore> {
  const store = await openBlobStore(loadConfig(settingsOf(env)), log)
  cleanUpAfter(t, () => store[Symbol.dispose]())
  return store
}

async function uploads(prefix = ''): Promise<string[]> {
  const page = await ceph.client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET, Prefix: prefix }))
  return (page.Uploads ?? []).map(({ Key: key }) => key!)
}

let count = 0
const newPrefix = () => `p${++count}/deep`

describe('the store in a bucket', () => {
  conformance(async (t) => {
    const prefix = newPrefix()
    const env = { BERTH_BLOBS: `s3://${BUCKET}/${prefix}` }
    return {
      store: await openStore(t, env),
      again: () => openStore(t, env),
      remains: async () => {
        const keys = [...(await ceph.objects(BUCKET)).keys()].filter((key) => key.startsWith(`${prefix}/`))
        return [...keys.filter((key) => !key.endsWith('/store-id')), ...(await uploads(`${prefix}/`))]
      },
    }
  })
})

test('a blob never replaces another one, and what was written says nothing without its key', async (t) => {
  const store = await openStore(t, { BERTH_BLOBS: `s3://${BUCKET}/${newPrefix()}` })
  const id = newId()
  await store.put(id, Readable.from(['first']), options())
  await assert.rejects(store.put(id, Readable.from(['second']), options()), BlobExists)
  assert.equal((await buffer(await store.read(id))).toString(), 'first')
})

test('a read goes on where its connection was cut, also many times', async (t) => {
  const proxy = await TcpProxy.start(t, ceph.port)
  const store = await openStore(t, { BERTH_S3_ENDPOINT: proxy.url })
  const id = newId()
  const content = randomBytes(20 * MB)
  await store.put(id, Readable.from(piecesOf(content), { objectMode: false }), options())
  proxy.cutAfterBytes = 3 * MB
  const before = proxy.connections
  assert.ok((await buffer(await store.read(id))).equals(content))
  assert.ok(proxy.connections - before >= 5, `${proxy.connections - before} connections`)
  const range = { start: 1_000_001, end: 15_000_000 }
  assert.ok((await buffer(await store.read(id, range))).equals(content.subarray(range.start, range.end + 1)))
})

test('a read whose object is changed or removed on the way fails instead of mixing', async (t) => {
  const proxy = await TcpProxy.start(t, ceph.port)
  const prefix = newPrefix()
  const store = await openStore(t, { BERTH_S3_ENDPOINT: proxy.url, BERTH_BLOBS: `s3://${BUCKET}/${prefix}` })
  const id = newId()
  await store.put(id, Readable.from([randomBytes(9 * MB)]), options())
  proxy.cutAfterBytes = 3 * MB
  const reading = await store.read(id)
  const Key = `${prefix}/blobs/${id}`
  await ceph.client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: randomBytes(9 * MB) }))
  await assert.rejects(buffer(reading), BlobStoreFailure)
})

test('parts are sent again after cut connections, from memory', async (t) => {
  const proxy = await TcpProxy.start(t, ceph.port)
  const store = await openStore(t, { BERTH_S3_ENDPOINT: proxy.url })
  const id = newId()
  const content = randomBytes(40 * MB)
  const put = store.put(id, Readable.from(piecesOf(content), { objectMode: false }), options())
  const over = put.then(() => 'over')
  let cuts = 0
  proxy.bytesPerSecond = 20 * MB
  while (cuts < 6 && (await Promise.race([over, delay(150, 'cut it')])) !== 'over') {
    proxy.cut()
    cuts++
  }
  proxy.bytesPerSecond = Infinity
  assert.deepEqual(await put, { sizeBytes: content.length, sha256: sha256(content) })
  assert.ok(cuts >= 2, `${cuts} cuts`)
  assert.ok((await buffer(await store.read(id))).equals(content))
  // If the answer to the beginning was cut, that upload was begun twice; the sweep removes the first one.
  await store.removeUnfinished(new Date(Date.now() + 60_000))
  assert.deepEqual(await uploads(), [])
})

test('an outage is survived by reads and writes, and memory stays bounded while the store is slow', async (t) => {
  const store = await openStore(t)
  const id = newId()
  let produced = 0
  const piece = randomBytes(MB)
  const endless = Readable.from(
    (async function* () {
      for (; produced < 64; produced++) yield piece
    })(),
    { objectMode: false },
  )
  const put = store.put(id, endless, options())
  await eventually('some of it has been taken', async () => produced > 0)
  ceph.stopGateway()
  await delay(3_000)
  const taken = produced
  assert.ok(taken < 64, 'the store hangs, so not everything can have been taken')
  await delay(1_000)
  assert.equal(produced, taken, 'nothing more is collected')
  ceph.continueGateway()
  assert.equal((await put).sizeBytes, 64 * MB)
  const reading = await store.read(id)
  const all = buffer(reading)
  ceph.stopGateway()
  setTimeout(() => ceph.continueGateway(), 2_000)
  assert.equal(sha256(await all), sha256(Buffer.concat(Array.from({ length: 64 }, () => piece))))
})

test('a reader that pauses holds no connection, and goes on later', async (t) => {
  const proxy = await TcpProxy.start(t, ceph.port)
  const store = await openStore(t, { BERTH_S3_ENDPOINT: proxy.url })
  const id = newId()
  const content = randomBytes(30 * MB)
  await store.put(id, Readable.from(piecesOf(content), { objectMode: false }), options())
  const reading = await store.read(id)
  const [first] = (await reading.take(1).toArray()) as Buffer[]
  assert.ok(first)
  const paused = await store.read(id)
  await new Promise((resolve) => paused.once('readable', resolve))
  await eventually('its connection is closed', async () => proxy.openConnections === 0, 60_000)
  assert.ok((await buffer(paused)).equals(content))
})

test('an upload that a kill interrupted is removed by the sweep when it is old', async (t) => {
  const { db } = await startDatabase(t)
  const store = await openStore(t)
  const storeId = await store.identity()
  await db
    .insertInto('blob_stores')
    .values({ id: storeId, location: store.location, is_remote: true })
    .execute()
  const endless = new Readable({ read() {} })
  for (const each of piecesOf(randomBytes(20 * MB))) endless.push(each)
  const stop = new AbortController()
  const put = store.put(newId(), endless, options(100 * MB, stop.signal))
  put.catch(() => {})
  await eventually('it has begun', async () => (await uploads()).length === 1)
  assert.equal(await store.removeUnfinished(new Date(Date.now() - 60_000)), 0, 'a young one stays')
  assert.equal(await store.removeUnfinished(new Date(Date.now() + 60_000)), 1)
  assert.deepEqual(await uploads(), [])
  stop.abort()
  await put.catch(() => {})

  const blobs = new Blobs({ store, storeId, log })
  const kept = await blobs.put(Readable.from(['kept']), options())
  await blobs.record(db, 'test', kept)
  const orphan = await blobs.put(Readable.from(['orphan']), options())
  const later = new Date(Date.now() + 2 * 3_600_000)
  const { missing } = await blobs.sweep(db, later)
  assert.deepEqual(missing, [])
  assert.equal((await buffer(await blobs.read(kept.id))).toString(), 'kept')
  await assert.rejects(blobs.read(orphan.id), /Cannot find blob/)
  const again = await blobs.put(Readable.from(['orphan']), options())
  assert.deepEqual(await blobs.sweep(db, later), { removed: 0, missing: [] }, 'another server has just swept')
  await blobs.remove(db, again.id)
})

test('a store that is away is told as such, without its place, and removing is left to the sweep', async (t) => {
  const proxy = await TcpProxy.start(t, ceph.port)
  const { db } = await startDatabase(t)
  const store = await openStore(t, { BERTH_S3_ENDPOINT: proxy.url })
  const blobs = new Blobs({ store, storeId: await store.identity(), log })
  const blob = await blobs.put(Readable.from(['x']), options())
  await blobs.record(db, 'test', blob)
  proxy.isRefusing = true
  proxy.cut()
  await assert.rejects(blobs.read(blob.id), (error: Error) => {
    assert.ok(error instanceof BlobStoreFailure)
    assert.equal(error.code, 'unavailable')
    assert.doesNotMatch(error.message, /s3:|127\.0\.0\.1|blobs\//)
    assert.match((error.cause as Error).message, /s3:\/\/blobs.*BERTH_S3_ENDPOINT/)
    return true
  })
  await blobs.remove(db, blob.id)
  assert.deepEqual(await db.selectFrom('blobs').select('id').execute(), [])
})

const refused = (env: Record<string, string>, message: RegExp) => async (t: Owner) => {
  await assert.rejects(openStore(t, env), { message })
}

describe('a start', () => {
  test(
    'names a bucket that does not exist',
    refused(
      { BERTH_BLOBS: 's3://no-such-bucket' },
      /cannot write an object: there is no bucket "no-such-bucket".*BERTH_BLOBS/,
    ),
  )
  test(
    'names an access key that is not known',
    refused({ BERTH_S3_ACCESS_KEY_ID: 'nobody' }, /cannot write an object: .*correct BERTH_S3_ACCESS_KEY_ID/),
  )
  test(
    'names a secret that is wrong',
    refused({ BERTH_S3_SECRET_ACCESS_KEY: 'wrong' }, /cannot write an object: .*correct BERTH_S3_/),
  )
  test(
    'names an endpoint where nobody listens',
    refused({ BERTH_S3_ENDPOINT: 'http://127.0.0.1:1' }, /ECONNREFUSED.*BERTH_S3_ENDPOINT/),
  )
  test(
    'names an endpoint that speaks no TLS',
    refused({ BERTH_S3_ENDPOINT: ceph.url.replace('http:', 'https:') }, /TLS.*BERTH_S3_ENDPOINT/),
  )
  test('names the right that is missing', async (t) => {
    const keys = await ceph.createUser('writer', ['s3:PutObject', 's3:GetObject', 's3:DeleteObject'])
    const env = { BERTH_S3_ACCESS_KEY_ID: keys.accessKeyId, BERTH_S3_SECRET_ACCESS_KEY: keys.secretAccessKey }
    await assert.rejects(openStore(t, env), {
      message:
        /cannot list objects: access is denied; .* give the access key s3:ListBucket on bucket "blobs"/,
    })
  })
  test('leaves nothing of its checks behind', async (t) => {
    const prefix = newPrefix()
    await openStore(t, { BERTH_BLOBS: `s3://${BUCKET}/${prefix}` })
    const keys = [...(await ceph.objects(BUCKET)).keys()].filter((key) => key.startsWith(prefix))
    assert.deepEqual(keys, [])
    assert.deepEqual(await uploads(prefix), [])
  })
  test('refuses a prefix that belongs to something else', async (t) => {
    const prefix = newPrefix()
    const Key = `${prefix}/store-id`
    await ceph.client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'somebody' }))
    const store = await openStore(t, { BERTH_BLOBS: `s3://${BUCKET}/${prefix}` })
    await assert.rejects(store.identity(), /its object store-id is not Berth's/)
    const { Body: body } = await ceph.client.send(new GetObjectCommand({ Bucket: BUCKET, Key }))
    assert.equal(await body!.transformToString(), 'somebody')
  })
})
