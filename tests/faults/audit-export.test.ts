// The export of the audit log to a real S3 server, through kills, several servers, and an outage of the store.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { AuditExportDestination, AuditExportTestResult } from '@berth/contracts/audit-exports'
import { startCeph } from '../fixtures/ceph.ts'
import { startPostgres } from '../fixtures/postgres.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'

const owner = { after }
const ceph = await startCeph(owner)
const PATH = '/audit-logs/export/destinations'
const WAIT_MS = 60_000

const settings = {
  BERTH_AUDIT_EXPORT_HOLD_SECONDS: '2',
  BERTH_AUDIT_EXPORT_ALLOW: `127.0.0.1:${ceph.port}`,
  BERTH_AWS_STS_URL: ceph.url,
  BERTH_AWS_IDENTITY_ARN: ceph.identity.arn,
  BERTH_AWS_ACCESS_KEY_ID: ceph.identity.accessKeyId,
  BERTH_AWS_SECRET_ACCESS_KEY: ceph.identity.secretAccessKey,
}
const inCeph = { type: 's3', format: 'jsonl.gz', region: 'us-east-1', endpoint: ceph.url }
const byKey = { access_key_id: ceph.accessKeyId, secret_access_key: ceph.secretAccessKey }

let count = 0
async function newBucket(): Promise<string> {
  const name = `audit-${++count}`
  await ceph.createBucket(name)
  return name
}

async function made(server: TestServer, body: object): Promise<AuditExportDestination> {
  const answer = await send<AuditExportDestination>(server, 'POST', PATH, body)
  assert.equal(answer.status, 201, answer.body.message)
  return answer.body
}

async function activate(server: TestServer, { id }: { id: string }): Promise<void> {
  const answer = await send(server, 'PATCH', `${PATH}/${id}`, { status: 'active' })
  assert.equal(answer.status, 200, answer.body.message)
}

interface Line {
  readonly event_id: string
  readonly path: string
  readonly method: string
}

const linesOf = (object: Buffer) =>
  gunzipSync(object)
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)

async function exported(bucket: string): Promise<Line[]> {
  return [...(await ceph.objects(bucket)).values()].flatMap(linesOf)
}

/** Requests that the audit log names by their path. */
async function leaveTraces(server: TestServer, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { status } = await send(server, 'GET', `/org/projects/${name}`)
    assert.equal(status, 404)
  }
}

/** Reads are stored a moment after their answer, and the export follows what is stored. */
async function untilStored(server: TestServer, name: string): Promise<void> {
  const start = new Date(Date.now() - 3_600_000).toISOString()
  const end = new Date(Date.now() + 3_600_000).toISOString()
  await until(`the record of "${name}" is stored`, async () => {
    const answer = await send(server, 'GET', `/audit-logs?start=${start}&end=${end}&limit=100`)
    assert.equal(answer.status, 200)
    return JSON.stringify(answer.body).includes(`/org/projects/${name}`)
  })
}

const namesIn = (lines: readonly Line[]) =>
  lines.flatMap(({ path }) =>
    path.startsWith('/org/projects/') ? [path.slice('/org/projects/'.length)] : [],
  )

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + WAIT_MS
  while (!(await condition())) {
    assert.ok(performance.now() < end, `${what} within ${WAIT_MS / 1000} s`)
    await delay(250)
  }
}

async function untilExported(bucket: string, names: readonly string[]): Promise<Line[]> {
  let lines: Line[] = []
  await until(`${names.length} records are exported`, async () => {
    lines = await exported(bucket)
    return new Set(names).isSubsetOf(new Set(namesIn(lines)))
  })
  return lines
}

describe('with an access key', () => {
  test('records from the activation on arrive once each, with the lines of the export by request', async (t) => {
    const server = await startServer(t, { env: settings })
    const bucket = await newBucket()
    await leaveTraces(server, ['before'])
    await untilStored(server, 'before')
    const destination = await made(server, { ...inCeph, ...byKey, bucket, prefix: 'berth/logs/' })
    assert.equal(destination.status, 'paused')
    assert.ok(!JSON.stringify(destination).includes(ceph.secretAccessKey))
    const tested = await send<AuditExportTestResult>(server, 'POST', `${PATH}/${destination.id}/test`)
    assert.deepEqual(tested.body, { success: true, stage: 'complete' })
    assert.equal((await ceph.objects(bucket)).size, 0, 'the object of the test is deleted')

    await activate(server, destination)
    const names = Array.from({ length: 30 }, (_, index) => `trace-${index}`)
    await leaveTraces(server, names)
    const lines = await untilExported(bucket, names)
    assert.ok(!namesIn(lines).includes('before'), 'nothing from before the activation')
    assert.equal(new Set(lines.map(({ event_id }) => event_id)).size, lines.length, 'no record twice')
    assert.ok(
      lines.some(({ method, path }) => method === 'PATCH' && path === `${PATH}/${destination.id}`),
      'the activation itself is the first record',
    )
    const range = `start=${new Date(Date.now() - 600_000).toISOString()}&end=${new Date(Date.now() + 60_000).toISOString()}`
    const chunk = await server.fetch(`/audit-logs/export/chunk?${range}&format=jsonl`)
    const byId = new Map(
      (await chunk.text())
        .trimEnd()
        .split('\n')
        .map((line) => [(JSON.parse(line) as Line).event_id, line]),
    )
    for (const line of lines) assert.equal(JSON.stringify(line), byId.get(line.event_id))
    for (const key of (await ceph.objects(bucket)).keys()) {
      assert.match(
        key,
        new RegExp(
          `^berth/logs/destination_id=${destination.id}/org_id=org/date=\\d{4}-\\d\\d-\\d\\d/hour=\\d\\d/\\d{8}T\\d{6}\\.\\d{6}Z-\\d{4}\\.jsonl\\.gz$`,
        ),
      )
    }
    const seen = await send<AuditExportDestination>(server, 'GET', `${PATH}/${destination.id}`)
    assert.equal(seen.body.consecutive_failures, 0)
    assert.ok(seen.body.last_success_at && seen.body.last_exported_cursor)
  })

  test('what is recorded during a pause is never sent, and what was recorded before it is', async (t) => {
    const server = await startServer(t, { env: settings })
    const bucket = await newBucket()
    const destination = await made(server, { ...inCeph, ...byKey, bucket, prefix: '' })
    const setStatus = (status: string) => send(server, 'PATCH', `${PATH}/${destination.id}`, { status })
    await activate(server, destination)
    await leaveTraces(server, ['before-pause'])
    await delay(1_200)
    assert.equal((await setStatus('paused')).status, 200)
    await leaveTraces(server, ['during-pause'])
    // The audit log writes reads a second later.
    await delay(1_500)
    assert.equal((await setStatus('active')).status, 200)
    await leaveTraces(server, ['after-pause'])
    const lines = await untilExported(bucket, ['before-pause', 'after-pause'])
    assert.ok(!namesIn(lines).includes('during-pause'))
    assert.equal((await send(server, 'DELETE', `${PATH}/${destination.id}`)).status, 204)
    assert.equal((await send(server, 'DELETE', `${PATH}/${destination.id}`)).status, 204)
    assert.equal((await send(server, 'GET', `${PATH}/${destination.id}`)).status, 404)
    const size = (await ceph.objects(bucket)).size
    await leaveTraces(server, ['after-deletion'])
    await delay(6_000)
    assert.equal((await ceph.objects(bucket)).size, size)
  })

  test('an outage of the store loses nothing, and is told in the destination', async (t) => {
    const server = await startServer(t, { env: settings })
    const bucket = await newBucket()
    const destination = await made(server, { ...inCeph, ...byKey, bucket, prefix: '' })
    await activate(server, destination)
    // A wrong secret stands for a store that refuses.
    const wrong = { access_key_id: ceph.accessKeyId, secret_access_key: 'wrong' }
    assert.equal((await send(server, 'PATCH', `${PATH}/${destination.id}`, wrong)).status, 200)
    await leaveTraces(server, ['while-refused'])
    let seen: AuditExportDestination | undefined
    await until('two failures', async () => {
      seen = (await send<AuditExportDestination>(server, 'GET', `${PATH}/${destination.id}`)).body
      return seen.consecutive_failures >= 2
    })
    assert.match(seen!.last_error!, /^Cannot write an object: it answers \w+ \(403\)$/)
    assert.ok(seen!.last_error_at && seen!.next_attempt_at)
    assert.equal((await send(server, 'PATCH', `${PATH}/${destination.id}`, byKey)).status, 200)
    await untilExported(bucket, ['while-refused'])
    ceph.stopGateway()
    await leaveTraces(server, ['while-hanging'])
    await delay(5_000)
    ceph.continueGateway()
    const lines = await untilExported(bucket, ['while-refused', 'while-hanging'])
    assert.equal(new Set(lines.map(({ event_id }) => event_id)).size, lines.length)
  })

  test('a destination cannot become active while its test fails', async (t) => {
    const server = await startServer(t, { env: settings })
    const destination = await made(server, { ...inCeph, ...byKey, bucket: 'no-such-bucket', prefix: '' })
    const tested = await send<AuditExportTestResult>(server, 'POST', `${PATH}/${destination.id}/test`)
    assert.deepEqual(tested.body, {
      success: false,
      stage: 'put_object',
      error: { code: 'put_object_failed', message: 'Cannot write an object: it answers NoSuchBucket (404)' },
    })
    const refused = await send(server, 'PATCH', `${PATH}/${destination.id}`, { status: 'active' })
    assert.equal(refused.status, 400)
    assert.match(refused.body.message!, /status: cannot be active, because the test failed.*NoSuchBucket/)
    const bucket = await newBucket()
    const changed = { bucket, status: 'active' }
    const answer = await send<AuditExportDestination>(server, 'PATCH', `${PATH}/${destination.id}`, changed)
    assert.equal(answer.body.status, 'active', answer.body.message)
  })
})

describe('with a role', () => {
  test('objects are written with the credentials of the token service', async (t) => {
    const server = await startServer(t, { env: settings })
    const bucket = await newBucket()
    const body = { ...inCeph, bucket, prefix: 'by-role', role_arn: ceph.roleArn }
    const destination = await made(server, body)
    assert.equal(destination.kernel_role_arn, ceph.identity.arn)
    assert.match(destination.external_id, /^berth-[a-z0-9]{24}$/)
    const tested = await send<AuditExportTestResult>(server, 'POST', `${PATH}/${destination.id}/test`)
    assert.deepEqual(tested.body, { success: true, stage: 'complete' })
    await activate(server, destination)
    await leaveTraces(server, ['by-role'])
    await untilExported(bucket, ['by-role'])
  })

  test('a role that may not be assumed fails at its own stage', async (t) => {
    const server = await startServer(t, { env: settings })
    const role_arn = 'arn:aws:iam:::role/of-somebody-else'
    const destination = await made(server, { ...inCeph, bucket: 'any-bucket', prefix: '', role_arn })
    const tested = await send<AuditExportTestResult>(server, 'POST', `${PATH}/${destination.id}/test`)
    assert.equal(tested.body.stage, 'assume_role')
    assert.equal(tested.body.error!.code, 'assume_role_failed')
    assert.match(tested.body.error!.message, /^Cannot assume the role: it answers \w+ \(4\d\d\)$/)
  })
})

for (const point of ['audit-export-written', 'audit-export-kept']) {
  test(`a kill at ${point} loses no record, and sends an object again under its own key`, async (t) => {
    const dataDir = tempDir(t)
    const bucket = await newBucket()
    const first = await startServer(t, { env: settings, dataDir })
    const destination = await made(first, { ...inCeph, ...byKey, bucket, prefix: '' })
    await activate(first, destination)
    const names = Array.from({ length: 20 }, (_, index) => `${point}-${index}`)
    await leaveTraces(first, names)
    await first.stop('SIGTERM')
    // It exports as soon as it can, maybe before it is ready.
    const env = { ...settings, BERTH_CRASH_AT: point }
    await startServer(t, { env, dataDir }).then(
      (doomed) => doomed.stop('SIGCONT'),
      (error: Error) => assert.match(error.message, /ended with code .* ready/s),
    )
    const again = await startServer(t, { env: settings, dataDir })
    await leaveTraces(again, ['afterwards'])
    const lines = await untilExported(bucket, ['afterwards'])
    const ids = lines.map(({ event_id }) => event_id)
    assert.equal(new Set(ids).size, ids.length, 'what was sent twice has replaced itself')
    const range = `start=${new Date(Date.now() - 600_000).toISOString()}&end=${new Date(Date.now() + 60_000).toISOString()}`
    const stored = (await (await again.fetch(`/audit-logs/export/chunk?${range}&format=jsonl`)).text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    const wanted = stored.filter(({ path }) => path.includes(point))
    assert.equal(wanted.length, names.length)
    await until('every stored record is exported', async () => {
      const found = new Set((await exported(bucket)).map(({ event_id }) => event_id))
      return wanted.every(({ event_id }) => found.has(event_id))
    })
  })
}

test('of several servers one exports at a time, and another goes on when it is killed', async (t) => {
  const postgres = await startPostgres(t)
  const env = {
    ...settings,
    DATABASE_URL: postgres.url,
    BERTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BERTH_API_KEY: 'sk_replica00000_abcdefghijklmnopqrstuvwxyz012345',
  }
  const servers = await Promise.all([startServer(t, { env }), startServer(t, { env })])
  const bucket = await newBucket()
  const destination = await made(servers[0], { ...inCeph, ...byKey, bucket, prefix: '' })
  await activate(servers[1], destination)
  const names = Array.from({ length: 40 }, (_, index) => `shared-${index}`)
  await Promise.all(
    servers.map((server, which) =>
      leaveTraces(
        server,
        names.filter((_, at) => at % 2 === which),
      ),
    ),
  )
  const lines = await untilExported(bucket, names)
  assert.equal(new Set(lines.map(({ event_id }) => event_id)).size, lines.length)
  const exporting = await Promise.all(
    servers.map(async (server) => {
      const text = await (await server.fetch('/metrics')).text()
      return Number(/^berth_audit_exported_records_total (\d+)/m.exec(text)![1])
    }),
  )
  const total = exporting.reduce((sum, each) => sum + each, 0)
  assert.ok(total <= (await exported(bucket)).length, 'no record was sent by both')
  await servers[0].stop('SIGKILL')
  await leaveTraces(servers[1], ['after-the-kill'])
  await untilExported(bucket, ['after-the-kill'])
})
