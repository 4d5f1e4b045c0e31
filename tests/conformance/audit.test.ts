// The audit log: one record for every request of a known caller, whatever its outcome, and no way to change one.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isOpen, pathsOf } from '@berth/contracts/operation'
import { operations } from '@berth/contracts/operations'
import { startServer } from '../fixtures/server.ts'
import { newKey, newTenant } from './fixture-keys.ts'
import { HttpCaller, type Exchange } from './http-exchange.ts'
import { absentResources, newResourceFor } from './resources.ts'
import { sampleRequest } from './sample-request.ts'
import { ServerDatabase } from './server-database.ts'

const owner = { after }
// A session and a pool for every operation, both with their places.
const caps = { BERTH_MAX_CONCURRENT_SESSIONS: '1000', BERTH_MAX_POOLED_SESSIONS: '1000' }
const server = await startServer(owner, { env: caps })
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)
const guarded = operations.filter((operation) => !isOpen(operation))

/** Records of refusals and reads are written in batches, a moment later, or when the log is read. */
async function recordsOf(requestId: unknown): Promise<Record<string, unknown>[]> {
  const deadline = performance.now() + 5_000
  const now = Date.now()
  const range = `start=${new Date(now - 60_000).toISOString()}&end=${new Date(now).toISOString()}`
  while (true) {
    await caller.sendJson(server.key, 'GET', `/audit-logs?limit=1&${range}`)
    const rows = await database.run('SELECT * FROM audit_logs WHERE request_id = $1', [requestId])
    if (rows.length > 0 || performance.now() > deadline) return rows
  }
}

async function assertRecorded(
  key: { id: string; key: string },
  exchange: Exchange,
  route: string,
): Promise<number> {
  const answer = await caller.sendAs(key.key, exchange)
  const records = await recordsOf(answer.headers['x-request-id'])
  assert.equal(records.length, 1, `${records.length} records of ${exchange.method} ${exchange.path}`)
  const { status, method, path, client_ip, auth_strategy, key_id } = records[0]!
  assert.deepEqual(
    { status, method, path, client_ip, auth_strategy, key_id },
    {
      status: answer.status,
      method: exchange.method,
      path: exchange.path.split('?')[0],
      client_ip: '127.0.0.1',
      auth_strategy: 'api_key',
      key_id: key.id,
    },
  )
  assert.match(
    String(records[0]!['route']),
    new RegExp(`^${route.replaceAll(/\{\w+\}/g, '(:\\w+|{\\w+})')}$`),
  )
  return answer.status
}

for (const operation of guarded) {
  test(`${operation.id} is recorded once, whether it succeeds or is refused`, async () => {
    for (const path of pathsOf(operation)) {
      const tenant = await newTenant(
        caller,
        server.key,
        `recorded by ${operation.id} at ${path.replaceAll('/', ' ')}`,
      )
      const organization = await newKey(caller, server.key, { name: 'recorded' })
      const spare = await newKey(caller, server.key, { name: 'worked on' })
      const resources = await newResourceFor(path, {
        caller,
        key: tenant.key.key,
        organizationKey: server.key,
      })
      const references = { projects: tenant.project.id, api_keys: spare.id, ...resources }
      await assertRecorded(organization, sampleRequest(operation, path, references), path)
      await assertRecorded(tenant.key, sampleRequest(operation, path, references), path)
      const absent = sampleRequest(operation, path, {
        projects: 'absent',
        api_keys: 'absent',
        ...absentResources,
      })
      await assertRecorded(organization, { ...absent, ...(operation.body && { body: '{"x":' }) }, path)
    }
  })
}

test('a repeated request with an Idempotency-Key is recorded each time', async () => {
  const first = { id: await ownId(), key: server.key }
  const exchange: Exchange = {
    method: 'POST',
    path: '/org/projects',
    headers: [
      ['Content-Type', 'application/json'],
      ['Idempotency-Key', 'recorded'],
    ],
    body: '{"name":"recorded"}',
  }
  assert.equal(await assertRecorded(first, exchange, '/org/projects'), 201)
  assert.equal(await assertRecorded(first, exchange, '/org/projects'), 201)
})

async function ownId(): Promise<string> {
  const answer = await caller.sendJson(server.key, 'GET', '/org/api_keys?name=First%20key')
  return (answer.json as [{ id: string }])[0].id
}

test('a record can be neither changed nor removed', async () => {
  for (const statement of [
    'UPDATE audit_logs SET status = 200',
    'DELETE FROM audit_logs',
    'TRUNCATE audit_logs',
  ]) {
    await assert.rejects(database.run(statement), /append-only/)
  }
})
