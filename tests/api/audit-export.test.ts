// The destinations of the export of the audit log, without a store; tests/faults/audit-export.test.ts has a real one.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { after, test } from 'node:test'
import type { AuditExportDestination, AuditExportTestResult } from '@berth/contracts/audit-exports'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { startDnsServer } from '../fixtures/dns-server.ts'
import { startServer } from '../fixtures/server.ts'
import { send as sendTo } from '../fixtures/sessions.ts'

const PATH = '/audit-logs/export/destinations'
const owner = { after }

/** Listens where a store could be, and records who comes. */
async function startPlace(of: Owner) {
  const requests: string[] = []
  const place = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.writeHead(403, { 'content-type': 'application/xml' })
    response.end(
      '<Error><Code>AccessDenied</Code><Message>the secret plan of arn:aws:iam::1:user/x</Message></Error>',
    )
  })
  place.listen(0, '127.0.0.1')
  await once(place, 'listening')
  cleanUpAfter(of, async () => {
    place.closeAllConnections()
    place.close()
    await once(place, 'close')
  })
  return { requests, port: (place.address() as AddressInfo).port }
}

const open = await startPlace(owner)
const closed = await startPlace(owner)
const dns = await startDnsServer(owner, { names: { 'inward.example': ['127.0.0.1'] } })
const server = await startServer(owner, {
  env: {
    BERTH_AUDIT_EXPORT_ALLOW: `127.0.0.1:${open.port}`,
    BERTH_DNS_SERVERS: dns.address,
    // Sessions may go there, the audit log may not.
    BERTH_EGRESS_ALLOW: `127.0.0.0/8`,
  },
})

const send = <Body = AuditExportDestination>(method: string, path: string, body?: object) =>
  sendTo<Body>(server, method, path, body)

const secret = 'very-secret-key'
const usual = {
  type: 's3',
  format: 'jsonl.gz',
  bucket: 'audit-logs',
  prefix: '',
  region: 'us-east-1',
  endpoint: `http://127.0.0.1:${open.port}`,
  access_key_id: 'key-id',
  secret_access_key: secret,
}

async function made(change: object = {}): Promise<AuditExportDestination> {
  const answer = await send('POST', PATH, { ...usual, ...change })
  assert.equal(answer.status, 201, answer.body.message)
  return answer.body
}

test('a destination is created paused, shown without its secret, changed field by field, and deleted', async () => {
  const destination = await made({ kms_key_id: 'kms-1' })
  const { id, external_id, created_at, updated_at, ...rest } = destination
  assert.match(external_id, /^berth-/)
  assert.equal(created_at, updated_at)
  assert.deepEqual(rest, {
    type: 's3',
    format: 'jsonl.gz',
    bucket: 'audit-logs',
    prefix: '',
    region: 'us-east-1',
    role_arn: '',
    kernel_role_arn: '',
    kms_key_id: 'kms-1',
    endpoint: usual.endpoint,
    access_key_id: 'key-id',
    status: 'paused',
    consecutive_failures: 0,
  })
  assert.deepEqual((await send('GET', `${PATH}/${id}`)).body, destination)
  const listed = await send<AuditExportDestination[]>('GET', PATH)
  assert.deepEqual(listed.body, [destination])
  assert.ok(!JSON.stringify(listed.body).includes(secret))

  const change = async (body: object) => (await send('PATCH', `${PATH}/${id}`, body)).body
  assert.equal((await change({ prefix: 'logs', bucket: null })).prefix, 'logs')
  assert.equal((await change({ kms_key_id: null })).kms_key_id, 'kms-1', 'null keeps')
  assert.equal((await change({ kms_key_id: '' })).kms_key_id, undefined, 'an empty string removes')
  assert.equal((await change({ endpoint: '' })).endpoint, undefined)
  const same = await change({})
  assert.deepEqual(await change({ prefix: 'logs' }), same, 'nothing changed, so nothing is updated')

  assert.equal((await send('DELETE', `${PATH}/${id}`)).status, 204)
  assert.equal((await send('DELETE', `${PATH}/${id}`)).status, 204)
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['POST', '/test'],
  ]) {
    assert.equal((await send(method!, `${PATH}/${id}${path}`)).status, 404)
  }
  assert.deepEqual((await send<unknown[]>('GET', PATH)).body, [])
  assert.notEqual((await made()).external_id, external_id)
})

test('a request that cannot work is refused, with the field and the remedy', async () => {
  const { access_key_id: _id, secret_access_key: _secret, endpoint: _endpoint, ...bare } = usual
  const role_arn = 'arn:aws:iam::123456789012:role/x'
  const cases: [object, RegExp][] = [
    [bare, /role_arn: is required; or give access_key_id and secret_access_key/],
    [{ ...usual, role_arn }, /role_arn: .* but not both/],
    [{ ...bare, role_arn }, /role_arn: .*no identity in AWS.*BERTH_AWS_IDENTITY_ARN/],
    [{ ...bare, role_arn: 'x' }, /role_arn/],
    [{ ...bare, access_key_id: 'x' }, /secret_access_key: is required/],
    [{ ...bare, secret_access_key: 'x' }, /access_key_id: is required/],
    [{ ...usual, bucket: 'Not A Bucket' }, /bucket/],
    [{ ...usual, bucket: 'arn:aws:s3:::x' }, /bucket/],
    [{ ...usual, region: 'evil.example/#' }, /region/],
    [{ ...usual, region: 'a.b' }, /region/],
    [{ ...usual, type: 'gcs' }, /type/],
    [{ ...usual, format: 'csv' }, /format/],
    [{ ...usual, endpoint: `http://127.0.0.1:${closed.port}` }, /endpoint: .*BERTH_AUDIT_EXPORT_ALLOW/],
    [{ ...usual, endpoint: `http://localhost:${closed.port}` }, /endpoint: .*BERTH_AUDIT_EXPORT_ALLOW/],
    [
      { ...usual, endpoint: `http://[::ffff:127.0.0.1]:${closed.port}` },
      /endpoint: .*BERTH_AUDIT_EXPORT_ALLOW/,
    ],
    [{ ...usual, endpoint: 'http://169.254.169.254' }, /endpoint: .*BERTH_AUDIT_EXPORT_ALLOW/],
    [{ ...usual, endpoint: 'http://10.0.0.1:9000' }, /endpoint: .*BERTH_AUDIT_EXPORT_ALLOW/],
    [{ ...usual, endpoint: 'http://s3.example.com' }, /endpoint: must be https/],
    [{ ...usual, endpoint: 'https://user:secret@s3.example.com' }, /endpoint: must be only a scheme/],
    [{ ...usual, endpoint: 'https://s3.example.com/?x=1' }, /endpoint: must be only a scheme/],
    [{ ...usual, endpoint: 'https://s3.example.com/path' }, /endpoint: must be only a scheme/],
    [{ ...usual, endpoint: 'file:///etc/passwd' }, /endpoint: must be an http or https URL/],
  ]
  for (const [body, expected] of cases) {
    const answer = await send('POST', PATH, body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(answer.body.message!, expected)
  }
  assert.deepEqual(closed.requests, [])
})

test('a test says what the store answers, in our own words, and activation needs a test that passes', async () => {
  const { id } = await made()
  const tested = await send<AuditExportTestResult>('POST', `${PATH}/${id}/test`)
  assert.equal(tested.status, 200)
  const message = 'Cannot write an object: it answers AccessDenied (403)'
  assert.deepEqual(tested.body, {
    success: false,
    stage: 'put_object',
    error: { code: 'put_object_failed', message },
  })
  assert.match(open.requests.at(-1)!, /^PUT \/audit-logs\/\.kernel-audit-log-export-test-\w+\.jsonl\.gz/)
  const refused = await send('PATCH', `${PATH}/${id}`, { status: 'active' })
  assert.equal(refused.status, 400)
  assert.match(
    refused.body.message!,
    /status: cannot be active, because the test failed\. Cannot write an object/,
  )
  assert.equal((await send('GET', `${PATH}/${id}`)).body.status, 'paused')
})

test('a name that leads to an address of this machine gets nothing of the audit log', async () => {
  // Public as written; where it leads is known at the connection only.
  const { id } = await made({ endpoint: `https://inward.example:${closed.port}` })
  const tested = await send<AuditExportTestResult>('POST', `${PATH}/${id}/test`)
  assert.match(
    tested.body.error!.message,
    /^Cannot write an object: Cannot reach "inward\.example:\d+": it resolves to an address that is not public \(loopback\)$/,
  )
  assert.deepEqual(closed.requests, [])
})

test('of two changes at once, the one that was tested on the old configuration is refused', async () => {
  const { id } = await made()
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) => send('PATCH', `${PATH}/${id}`, { prefix: `p${index}` })),
  )
  const statuses = answers.map(({ status }) => status)
  assert.ok(statuses.includes(200), statuses.join())
  assert.ok(
    statuses.every((status) => status === 200 || status === 409),
    statuses.join(),
  )
  const won = answers.filter(({ status }) => status === 200).map(({ body }) => body.prefix)
  assert.ok(won.includes((await send('GET', `${PATH}/${id}`)).body.prefix))
  for (const { status, body } of answers) {
    if (status === 409) assert.match(body.message!, /another request changed it meanwhile; read it again/)
  }
})

test('a project key may not see destinations, and their number is bounded', async () => {
  const project = await send<{ id: string }>('POST', '/org/projects', { name: 'p' })
  const key = await send<{ key: string }>('POST', '/org/api_keys', { name: 'k', project_id: project.body.id })
  assert.equal((await server.fetch(PATH, { key: key.body.key })).status, 403)
  let status = 201
  for (let count = 0; count < 25 && status === 201; count++) ({ status } = await send('POST', PATH, usual))
  assert.equal(status, 409)
  const { body } = await send<unknown[]>('GET', `${PATH}?limit=100`)
  assert.equal(body.length, 20)
})
