// Authentication: every row of the contract, on each of its paths, with every bad credential.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isOpen, pathsOf, type Operation } from '@berth/contracts/operation'
import { operations } from '@berth/contracts/operations'
import { sharedServer } from '../fixtures/shared-server.ts'
import { badCredentials } from './bad-credentials.ts'
import { assertError } from './error-answer.ts'
import { newKey, newTenant } from './fixture-keys.ts'
import { HttpCaller } from './http-exchange.ts'
import { newResources } from './resources.ts'
import { sampleRequest } from './sample-request.ts'
import { ServerDatabase } from './server-database.ts'

const owner = { after }
const server = await sharedServer(owner)
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)
const tenant = await newTenant(caller, server.key, 'Guarded')
const references = {
  projects: tenant.project.id,
  api_keys: tenant.key.id,
  ...(await newResources(caller, tenant.key.key, server.key)),
}

const mounted = operations.flatMap((operation) => pathsOf(operation).map((path) => ({ operation, path })))
const guarded = mounted.filter(({ operation }) => !isOpen(operation))
const open = mounted.filter(({ operation }) => operation.auth === 'none')

async function bearersWithoutAccess() {
  const valid = await newKey(caller, server.key, { name: 'valid' })
  const expired = await newKey(caller, server.key, { name: 'expired', days_to_expire: 1 })
  // Expired before its first use: a server may cache a key for a moment, but not one it never saw.
  await database.run(`UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, [
    expired.id,
  ])
  const deleted = await newKey(caller, server.key, { name: 'deleted' })
  const answer = await caller.sendJson(server.key, 'DELETE', `/org/api_keys/${deleted.id}`)
  assert.equal(answer.status, 204)
  return badCredentials({ valid, expired: expired.key, deleted: deleted.key })
}
const credentials = await bearersWithoutAccess()

function sample({ operation, path }: { operation: Operation; path: string }) {
  return sampleRequest(operation, path, references)
}

for (const row of guarded) {
  test(`${row.operation.method} ${row.path} answers 401 to every bad credential and changes nothing`, async () => {
    const before = await database.state()
    const exchange = sample(row)
    for (const { what, headers } of credentials) {
      const answer = await caller.send({ ...exchange, headers: [...(exchange.headers ?? []), ...headers] })
      const { message } = assertError(answer, 'unauthorized', what)
      for (const [, value] of headers) {
        const secret = value.split(' ').at(-1)!
        assert.ok(secret.length < 2 || !message.includes(secret), `${what} is repeated in "${message}"`)
      }
    }
    assert.deepEqual(await database.state(), before)
  })
}

for (const row of open) {
  test(`${row.operation.method} ${row.path} is open, and ignores a bad key`, async () => {
    const exchange = sample(row)
    const plain = await caller.send(exchange)
    assert.equal(plain.status, row.operation.status, plain.text)
    const withBadKey = await caller.sendAs('nonsense', exchange)
    assert.equal(withBadKey.status, row.operation.status, withBadKey.text)
  })
}

test('a bad key is refused before the request is validated', async () => {
  for (const row of guarded.filter(({ operation }) => operation.body)) {
    const answer = await caller.sendAs('nonsense', {
      ...sample(row),
      headers: [['Content-Type', 'text/plain']],
      body: '{"not": json',
    })
    assertError(answer, 'unauthorized', row.path)
  }
})

test('white space around the header value is not part of the key', async () => {
  const answer = await caller.send({
    method: 'GET',
    path: '/org/limits',
    headers: [['Authorization', `\t Bearer ${server.key} \t`]],
  })
  assert.equal(answer.status, 200, answer.text)
})

test('the scheme is case-insensitive', async () => {
  for (const scheme of ['bearer', 'BEARER']) {
    const headers = [['Authorization', `${scheme} ${server.key}`]] as const
    assert.equal((await caller.send({ method: 'GET', path: '/org/limits', headers })).status, 200)
  }
})

test('a deleted key stops working at once, even one that was just used', async () => {
  const key = await newKey(caller, server.key, { name: 'used, then deleted' })
  assert.equal((await caller.sendJson(key.key, 'GET', '/org/limits')).status, 200)
  assert.equal((await caller.sendJson(server.key, 'DELETE', `/org/api_keys/${key.id}`)).status, 204)
  assertError(await caller.sendJson(key.key, 'GET', '/org/limits'), 'unauthorized')
})

test('a key rotated without grace stops working at once, and its successor works', async () => {
  const key = await newKey(caller, server.key, { name: 'rotated' })
  assert.equal((await caller.sendJson(key.key, 'GET', '/org/limits')).status, 200)
  const rotated = await caller.sendJson(server.key, 'POST', `/org/api_keys/${key.id}/rotate`, {
    expire_in_days: 0,
  })
  assert.equal(rotated.status, 201, rotated.text)
  assertError(await caller.sendJson(key.key, 'GET', '/org/limits'), 'unauthorized')
  const { key: successor } = rotated.json as { key: string }
  assert.equal((await caller.sendJson(successor, 'GET', '/org/limits')).status, 200)
})
