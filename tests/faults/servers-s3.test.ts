// Servers whose files are in a real S3 server: what one of them stores, every other one uses, also after kills and
// outages; with real browsers.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3'
import { withCdp } from '../fixtures/cdp.ts'
import { startCeph } from '../fixtures/ceph.ts'
import { deploy, ended, invoke, postDeployment, settled, tinyApp } from '../fixtures/apps.ts'
import { manifest, marker, zipOf } from '../fixtures/extensions.ts'
import { eventually } from '../fixtures/host.ts'
import { everything, join as joinSite, knownAt, startMemberSite } from '../fixtures/member-site.ts'
import { createProfile, endSession, whenSaved } from '../fixtures/profiles.ts'
import { downloadReplay, openColours, paint, startReplay, stopReplay } from '../fixtures/replays.ts'
import { startServer, tempDir, type ServerOptions, type TestServer } from '../fixtures/server.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { createSession, metric, query, send } from '../fixtures/sessions.ts'
import { TcpProxy } from '../fixtures/tcp-proxy.ts'
import { framesOf } from '../fixtures/video.ts'

const ceph = await startCeph({ after })
const BUCKET = 'fleet'
await ceph.createBucket(BUCKET)
let count = 0

const newSettings = () => ({
  BERTH_BLOBS: `s3://${BUCKET}/fleet-${++count}`,
  BERTH_S3_ENDPOINT: ceph.url,
  BERTH_S3_ACCESS_KEY_ID: ceph.accessKeyId,
  BERTH_S3_SECRET_ACCESS_KEY: ceph.secretAccessKey,
})

async function newFleet(t: TestContext, env: Record<string, string> = {}) {
  const { url } = await newDatabase(t)
  const shared = {
    DATABASE_URL: url,
    BERTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BERTH_API_KEY: 'sk_replica00000_abcdefghijklmnopqrstuvwxyz012345',
    BERTH_LEASE_SECONDS: '10',
    ...newSettings(),
    ...env,
  }
  return (options: ServerOptions = {}) =>
    startServer(t, { hasRealInstances: true, ...options, env: { ...shared, ...options.env } })
}

const hasFiles = (dataDir: string) =>
  existsSync(join(dataDir, 'blobs')) &&
  readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true }).some((entry) =>
    entry.isFile(),
  )

async function upload(server: TestServer, name: string, archive: Buffer): Promise<number> {
  const form = new FormData()
  form.set('name', name)
  form.set('file', new Blob([new Uint8Array(archive)]), 'x.zip')
  return (await server.fetch('/extensions', { method: 'POST', body: form })).status
}

test('a profile, a recording and an extension of one server are used on another', async (t) => {
  const site = await startMemberSite(t)
  const start = await newFleet(t, site.allow)
  const [one, other] = await Promise.all([start(), start()])
  assert.equal(await upload(one, 'marker', marker()), 201)
  const profile = await createProfile(one)
  const session = await createSession(one, { profile: { id: profile.id, save_changes: true } })
  const replay = await withCdp(session.cdp_ws_url, async (cdp) => {
    await joinSite(cdp, site, 'ada')
    await openColours(cdp, 'red')
    const started = await startReplay(one, session.session_id, { framerate: 10 })
    await paint(cdp, 'blue')
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await stopReplay(one, session.session_id, started)
    return started
  })
  await endSession(one, session.session_id)
  assert.deepEqual(await whenSaved(other, session.session_id), { state: 'saved', version: 1 })
  const video = await downloadReplay(other, session.session_id, replay)
  assert.ok(framesOf(video, { x: 100, y: 100 }).length > 0)
  const ranged = await other.fetch(`/browsers/${session.session_id}/replays/${replay.replay_id}`, {
    headers: { range: 'bytes=4-11' },
  })
  assert.equal(ranged.status, 206)
  assert.ok(Buffer.from(await ranged.arrayBuffer()).equals(video.subarray(4, 12)))

  const next = await createSession(other, { profile: { id: profile.id }, extensions: [{ name: 'marker' }] })
  await withCdp(next.cdp_ws_url, async (cdp) => {
    assert.deepEqual(await knownAt(cdp, site), everything('ada'))
    await cdp.callPage('Page.navigate', { url: site.url })
    await eventually('the extension has marked the page', async () =>
      Object.hasOwn(await cdp.evaluate<object>('({ ...document.documentElement.dataset })'), 'marked'),
    )
  })
  await endSession(other, next.session_id)
  assert.equal((await send(other, 'DELETE', `/profiles/${profile.id}`)).status, 204)
  for (const { dataDir } of [one, other]) assert.equal(hasFiles(dataDir), false, 'no file is on a disk only')
})

const app = tinyApp('moving', {
  where: `async (context) => ({ id: context.invocation_id })`,
  slow: `async () => { await new Promise((resolve) => setTimeout(resolve, 30_000)); return 1 }`,
})
const where = { app_name: 'moving', action_name: 'where' }

const serverIdOf = ({ dataDir }: TestServer) => readFileSync(join(dataDir, 'server-id'), 'utf8').trim()

const serversOf = async (server: TestServer) =>
  (await query<{ server_id: string }>(server, 'SELECT DISTINCT server_id FROM invocations')).map(
    (row) => row.server_id,
  )

test('any server starts an app that another one has built, while that one is stopped and when it was killed', async (t) => {
  const start = await newFleet(t)
  const [home, other] = await Promise.all([start(), start()])
  await deploy(home, { files: app })
  assert.equal((await invoke(other, where)).body.status, 'succeeded')
  const otherId = serverIdOf(other)
  assert.equal(await home.stop('SIGTERM'), 0)
  const elsewhere = await invoke(other, where)
  assert.equal(elsewhere.body.status, 'succeeded', elsewhere.body.status_reason)
  const ranBy = `SELECT server_id FROM invocations WHERE id = '${elsewhere.body.id}'`
  assert.deepEqual(await query(other, ranBy), [{ server_id: otherId }])
  assert.equal(
    readdirSync(join(other.dataDir, 'blob-copies')).filter((name) => name !== 'unfinished').length,
    1,
  )

  const again = await start({ dataDir: home.dataDir })
  const running = await invoke(again, { app_name: 'moving', action_name: 'slow', async: true })
  await eventually('it runs', async () => {
    const [row] = await query<{ status: string }>(
      again,
      `SELECT status FROM invocations WHERE id = '${running.body.id}'`,
    )
    return row?.status === 'running'
  })
  const [{ server_id: worker }] = (await query<{ server_id: string }>(
    again,
    `SELECT server_id FROM invocations WHERE id = '${running.body.id}'`,
  )) as [{ server_id: string }]
  const [killed, left] = worker === otherId ? [other, again] : [again, other]
  await killed.stop('SIGKILL')
  const next = await invoke(left, { ...where, async: true })
  assert.equal((await ended(left, next.body.id, 90_000)).status, 'succeeded')
  const lost = await ended(left, running.body.id, 90_000)
  assert.match(lost.status_reason ?? '', /^worker_lost: its server is gone/)
})

test('invocations spread over the servers, as their instances have room', async (t) => {
  const start = await newFleet(t, { BERTH_APP_INVOCATIONS_PER_INSTANCE: '1' })
  const [home, other] = await Promise.all([start(), start()])
  await deploy(home, {
    files: tinyApp('busy', { work: `() => new Promise((resolve) => setTimeout(() => resolve(1), 3_000))` }),
  })
  const work = { app_name: 'busy', action_name: 'work' }
  const answers = await Promise.all(Array.from({ length: 4 }, () => invoke(home, work)))
  for (const { body } of answers) assert.equal(body.status, 'succeeded', body.status_reason)
  assert.equal((await serversOf(other)).length, 2)
})

test('a build whose server was killed is taken over by another', async (t) => {
  const start = await newFleet(t)
  const other = await start()
  const doomed = await start({ env: { BERTH_CRASH_AT: 'deployment-building' } })
  const { body } = await postDeployment(doomed, { files: app })
  await eventually('it is killed', () => doomed.process.signalCode === 'SIGKILL')
  const deployment = await settled(other, body.id, 120_000)
  assert.equal(deployment.status, 'running', deployment.status_reason)
  assert.equal((await invoke(other, where)).body.status, 'succeeded')
  assert.equal((await send(other, 'DELETE', `/deployments/${body.id}`)).status, 204)
  await eventually(
    'its files are gone',
    async () => (await query(other, 'SELECT id FROM blobs')).length === 0,
  )
  const keys = [...(await ceph.objects(BUCKET)).keys()].filter((key) =>
    key.startsWith(`fleet-${count}/blobs/`),
  )
  assert.deepEqual(keys, [])
})

test('after a kill at any point of an upload, the file is there or not', async (t) => {
  const dataDir = tempDir(t)
  const env = newSettings()
  const archive = zipOf({ 'manifest.json': manifest(), 'some.bin': randomBytes(20_000_000) })
  for (const at of [
    'blob-part-sent',
    'blob-written',
    'blob-named',
    'extension-kept',
    'before-commit',
    'after-commit',
  ]) {
    const doomed = await startServer(t, { dataDir, env: { ...env, BERTH_CRASH_AT: at } })
    await assert.rejects(upload(doomed, at, archive), at)
    await doomed.stop()
    const server = await startServer(t, { dataDir, env })
    const isThere = at === 'after-commit'
    const answer = await server.fetch(`/extensions/${at}`)
    assert.equal(answer.status, isThere ? 200 : 404, at)
    if (isThere) assert.ok(Buffer.from(await answer.arrayBuffer()).equals(archive))
    else await answer.body?.cancel()
    assert.equal(await upload(server, at, archive), isThere ? 409 : 201, at)
    const rows = await query<{ id: string }>(server, 'SELECT id FROM blobs')
    const objects = await ceph.objects(BUCKET)
    for (const bytes of objects.values()) {
      assert.ok(!bytes.includes(archive.subarray(5_000, 5_100)), 'what is in the bucket is encrypted')
    }
    const keys = new Set(objects.keys())
    for (const { id } of rows)
      assert.ok(keys.has(`fleet-${count}/blobs/${id}`), `${at}: every row has its object`)
    await server.stop()
  }
  const { Uploads: left = [] } = await ceph.client.send(
    new ListMultipartUploadsCommand({ Bucket: BUCKET, Prefix: `fleet-${count}/` }),
  )
  assert.ok(
    left.length >= 1,
    'what a kill left is there, and nobody sees it: the sweep removes it after an hour',
  )
})

test('a session is saved through an outage of the store, and requests say that it is away', async (t) => {
  const site = await startMemberSite(t)
  const proxy = await TcpProxy.start(t, ceph.port)
  const env = { ...newSettings(), ...site.allow, BERTH_S3_ENDPOINT: proxy.url }
  const server = await startServer(t, { hasRealInstances: true, env })
  assert.equal(await upload(server, 'marker', marker()), 201)
  const profile = await createProfile(server)
  const session = await createSession(server, { profile: { id: profile.id, save_changes: true } })
  await withCdp(session.cdp_ws_url, (cdp) => joinSite(cdp, site, 'bea'))
  proxy.isRefusing = true
  proxy.cut()
  const ending = send(server, 'DELETE', `/browsers/${session.session_id}`)
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  proxy.isRefusing = false
  assert.equal((await ending).status, 204)
  assert.deepEqual(await whenSaved(server, session.session_id, 60_000), { state: 'saved', version: 1 })
  const next = await createSession(server, { profile: { id: profile.id } })
  assert.deepEqual(await withCdp(next.cdp_ws_url, (cdp) => knownAt(cdp, site)), everything('bea'))
  await endSession(server, next.session_id)

  proxy.isRefusing = true
  proxy.cut()
  // Longer than the patience of a read.
  const refused = await server.fetch(`/profiles/${profile.id}/download?format=tar`)
  assert.equal(refused.status, 503)
  const { code, message } = (await refused.json()) as { code: string; message: string }
  assert.equal(code, 'unavailable')
  assert.doesNotMatch(message, /s3:|127\.0\.0\.1/)
  assert.ok((await metric(server, 'berth_blob_store_failures_total')) >= 1)
  proxy.isRefusing = false
})
