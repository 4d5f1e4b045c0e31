// The table of expected operations: complete, and right about what is built.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '@berth/contracts/operations'
import { installedClients } from './client-operations.ts'
import { compareSurface, requestedOperations } from './compare.ts'

const clients = await installedClients()
const surface = compareSurface(clients, operations)

test('the newest client comes first, and the request of every method is found', () => {
  assert.deepEqual(
    clients.map(({ version }) => version),
    ['0.84.0', '0.70.0', '0.55.0', '0.32.0', '0.24.0'],
  )
  assert.equal(clients[0]!.operations.length, 127)
  assert.equal(surface.client.of, 127)
  // These two call another method or a session. A third one would mean that a request was not found.
  assert.deepEqual(clients[0]!.helpers, ['browsers.fetch', 'auditLogs.download'])
})

test('a row has the call, the method and the path', () => {
  const row = surface.rows.find(({ call }) => call === 'browsers.replays.download')
  assert.equal(row?.method, 'GET')
  assert.equal(row?.path, '/browsers/{id}/replays/{replay_id}')
  assert.equal(row?.resource, 'browsers.replays')
})

test('projects, limits, API keys and the audit log are built', () => {
  const expected = ['projects', 'projects.limits', 'organization.limits', 'apiKeys', 'auditLogs']
  for (const resource of expected) {
    const rows = surface.rows.filter((row) => row.resource === resource)
    assert.ok(rows.length > 0, resource)
    for (const row of rows) assert.ok(row.isBuilt, `${row.method} ${row.path}`)
  }
})

test('an operation that only older clients call is listed with the last version that has it', () => {
  const row = surface.rows.find(({ method, path }) => method === 'GET' && path === '/projects')
  assert.equal(row?.call, 'projects.list')
  assert.notEqual(row?.version, surface.newest)
  assert.equal(row?.requested, 11)
})

test('every requested operation is in the table exactly once', () => {
  assert.equal(requestedOperations().length, 19)
  assert.equal(surface.requested.of, 19)
  const numbers = surface.rows.flatMap(({ requested }) => requested ?? [])
  assert.deepEqual(
    numbers.toSorted((a, b) => a - b),
    Array.from({ length: 19 }, (_, index) => index + 1),
  )
})

test('an operation that is removed from the contract is listed as not built', () => {
  const without = operations.filter(({ id }) => id !== 'createProject')
  const smaller = compareSurface(clients, without)
  assert.equal(smaller.client.built, surface.client.built - 1)
  assert.equal(smaller.rows.find(({ call }) => call === 'projects.create')?.isBuilt, false)
})
