// `npm run admin -- move-blobs` from a directory to a real S3 server and back, through kills; and servers that do not
// agree on the place of their files.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { runAdmin } from '../fixtures/admin.ts'
import { startCeph } from '../fixtures/ceph.ts'
import { manifest, zipOf } from '../fixtures/extensions.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { query, send } from '../fixtures/sessions.ts'

const ceph = await startCeph({ after })
const BUCKET = 'moved'
await ceph.createBucket(BUCKET)

const s3 = {
  BERTH_S3_ENDPOINT: ceph.url,
  BERTH_S3_ACCESS_KEY_ID: ceph.accessKeyId,
  BERTH_S3_SECRET_ACCESS_KEY: ceph.secretAccessKey,
}

let count = 0
const newPlace = () => `s3://${BUCKET}/place-${++count}`

/** One that needs several parts, and small ones. */
const archives = new Map(
  [9_000_000, 10, 1_000, 50_000].map((bytes, index) => [
    `extension-${index}`,
    zipOf({ 'manifest.json': manifest(), 'some.bin': randomBytes(bytes) }),
  ]),
)

async function upload(server: TestServer, name: string, archive: Buffer): Promise<void> {
  const form = new FormData()
  form.set('name', name)
  form.set('file', new Blob([new Uint8Array(archive)]), 'x.zip')
  const answer = await server.fetch('/extensions', { method: 'POST', body: form })
  assert.equal(answer.status, 201, await answer.text())
}

const uploadAll = async (server: TestServer) => {
  for (const [name, archive] of archives) await upload(server, name, archive)
}

async function assertAllThere(server: TestServer): Promise<void> {
  const listed = (await send<{ name: string }[]>(server, 'GET', '/extensions')).body
  for (const name of archives.keys()) {
    assert.ok(listed.some((each) => each.name === name))
    const answer = await server.fetch(`/extensions/${name}`)
    assert.equal(answer.status, 200)
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(archives.get(name)!), name)
  }
}

const filesIn = (dataDir: string) =>
  readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name !== 'store-id',
  )

const objectsIn = async (place: string) => {
  const prefix = `${place.split(`${BUCKET}/`)[1]}/blobs/`
  return [...(await ceph.objects(BUCKET)).keys()].filter((key) => key.startsWith(prefix))
}

test('files move to S3 and back through kills at every point, beside a running server', async (t) => {
  const dataDir = tempDir(t)
  const directory = join(dataDir, 'blobs')
  const place = newPlace()
  // As root's servers are: the server and the command have the same account.
  const start = (env: Record<string, string> = {}) => startServer(t, { dataDir, hasRealInstances: true, env })
  const server = await start()
  await uploadAll(server)
  const toS3 = ['move-blobs', '--from', directory, '--to', place]
  const dry = await runAdmin(server, [...toS3, '--dry-run'], s3)
  assert.match(dry.output, /Would move 4 files/)
  assert.deepEqual(await objectsIn(place), [])
  const points = [
    'blob-part-sent',
    'blob-written',
    'blob-named',
    'blob-move-written',
    'blob-move-copied',
    'blob-move-recorded',
  ]
  for (const at of points) {
    // Each kill has a file to happen to.
    await upload(server, at, archives.get('extension-0')!)
    const killed = await runAdmin(server, toS3, { ...s3, BERTH_CRASH_AT: at })
    assert.equal(killed.signal, 'SIGKILL', `${at}: ${killed.output}`)
    await assertAllThere(server)
  }
  assert.equal(filesIn(dataDir).length, 10, 'nothing is deleted')
  const done = await runAdmin(server, toS3, s3)
  assert.equal(done.code, 0, done.output)
  assert.match(done.output, /All files are in s3:\/\/moved\/place-1\//)
  // What is new is moved by the next run.
  await upload(server, 'late', archives.get('extension-1')!)
  const early = await runAdmin(server, [...toS3, '--delete-source'], s3)
  assert.match(early.output, /Cannot delete the source: server srv_\w+ does not use s3:/)
  assert.equal(early.code, 1)
  await server.stop()
  const env = { ...s3, BERTH_BLOBS: place }
  await assert.rejects(
    start(env),
    /1 of its files are in .*blobs; set BERTH_BLOBS to that place, or move them with npm run admin -- move-blobs/,
  )
  assert.match((await runAdmin(server, toS3, s3)).output, /Moved 1 file\./)
  const there = await start(env)
  await assertAllThere(there)
  const deleted = await runAdmin(server, [...toS3, '--delete-source'], s3)
  assert.match(deleted.output, /Deleted 11 files/)
  assert.deepEqual(filesIn(dataDir), [])
  await assertAllThere(there)
  assert.equal((await send(there, 'DELETE', '/extensions/late')).status, 204)
  assert.equal((await objectsIn(place)).length, 10)
  await there.stop()

  await assert.rejects(start(), /10 of its files are in s3:\/\/moved\/place-1\//)
  const back = await runAdmin(server, ['move-blobs', '--from', place, '--to', directory], s3)
  assert.equal(back.code, 0, back.output)
  await assertAllThere(await start())
})

test('a file that is damaged or lost is named, and never counts as moved', async (t) => {
  const dataDir = tempDir(t)
  const directory = join(dataDir, 'blobs')
  const place = newPlace()
  const server = await startServer(t, { dataDir })
  await uploadAll(server)
  const ids = (await query<{ id: string }>(server, 'SELECT id FROM blobs ORDER BY size_bytes')).map(
    ({ id }) => id,
  )
  const [damaged, lost, kept] = ids as [string, string, string]
  const pathOf = (id: string) => join(directory, id.slice(0, 2), id)
  writeFileSync(pathOf(damaged), 'other bytes')
  rmSync(pathOf(lost))
  // As a run that was killed between two writes might leave it.
  const Key = `${place.split(`${BUCKET}/`)[1]}/blobs/${kept}`
  await ceph.client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'half' }))
  const toS3 = ['move-blobs', '--from', directory, '--to', place]
  const { code, output } = await runAdmin(server, toS3, s3)
  assert.equal(code, 1)
  assert.match(output, new RegExp(`Not in .*: 1 file: ${lost}`))
  assert.match(output, new RegExp(`Damaged in .*: 1 file: ${damaged}`))
  assert.match(output, /Not in s3:.* yet: 2 files/)
  assert.match(output, /Moved 2 files/)
  const rest = await runAdmin(server, [...toS3, '--accept-missing'], s3)
  assert.equal(rest.code, 0, rest.output)
  assert.deepEqual((await objectsIn(place)).length, 2)
  await server.stop()
  await startServer(t, { dataDir, env: { ...s3, BERTH_BLOBS: place } })
})

test('wrong arguments are named', async (t) => {
  const server = await startServer(t)
  const cases: [string[], RegExp][] = [
    [[], /--from is missing/],
    [['--from', '/a'], /--to is missing/],
    [['--from', 'gs://a', '--to', '/b'], /--from must be a directory or s3:/],
    [['--from', '/a', '--to', '/b', '--fast'], /--fast/],
  ]
  for (const [args, message] of cases) {
    const { code, output } = await runAdmin(server, ['move-blobs', ...args])
    assert.equal(code, 1)
    assert.match(output, message)
  }
  const directory = join(server.dataDir, 'blobs')
  const same = await runAdmin(server, ['move-blobs', '--from', directory, '--to', directory])
  assert.match(same.output, /both are the same store/)
})

test('servers over one database that do not agree on the place of their files are refused', async (t) => {
  const { url } = await newDatabase(t)
  const shared = {
    DATABASE_URL: url,
    BERTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BERTH_API_KEY: 'sk_replica00000_abcdefghijklmnopqrstuvwxyz012345',
  }
  const place = newPlace()
  const first = await startServer(t, { env: { ...shared, ...s3, BERTH_BLOBS: place } })
  await assert.rejects(
    startServer(t, { env: shared }),
    /Cannot use this database with files in .*blobs: server srv_\w+ runs with s3:\/\/moved\/.*; set the same BERTH_BLOBS on all servers/,
  )
  await assert.rejects(
    startServer(t, { env: { ...shared, ...s3, BERTH_BLOBS: newPlace() } }),
    /set the same BERTH_BLOBS on all servers/,
  )
  const second = await startServer(t, { env: { ...shared, ...s3, BERTH_BLOBS: `${place}/` } })
  await uploadAll(first)
  await assertAllThere(second)
  assert.deepEqual(await query(second, 'SELECT count(DISTINCT store)::int AS stores FROM blobs'), [
    { stores: 1 },
  ])
})
