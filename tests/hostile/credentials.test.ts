// Stored credentials against an attacker with access to the database: a changed or moved value does not decrypt, and
// no stored, logged or answered text holds a secret.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import type { Credential } from '@berth/contracts/credentials'
import { newTenant } from '../conformance/fixture-keys.ts'
import { assertError } from '../conformance/error-answer.ts'
import { HttpCaller, type Answer } from '../conformance/http-exchange.ts'
import { ServerDatabase } from '../conformance/server-database.ts'
import { connectLogin, startConnect } from '../fixtures/connect-server.ts'
import { startServer } from '../fixtures/server.ts'
import { filesWith, holds } from './secret-search.ts'
import { assertNoFaultLogged } from './server-log.ts'

const secrets = {
  password: 'correct-horse-battery-staple-4417',
  olderPassword: 'wrong-donkey-capacitor-paperclip-9921',
  pin: 'pin-of-the-harbour-550182',
  seed: 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU',
  seedInUri: 'ONSWG4TFOQQGS3RAMEQFKUSJEBUGK4TF',
  providerToken: 'eyJ-connect-token-of-the-operator-7731',
  olderProviderToken: 'eyJ-connect-token-of-before-1290',
  itemPassword: 'password-that-only-the-vault-has-8823',
}
const owner = { after }
const connect = await startConnect(owner, {
  token: secrets.providerToken,
  vaults: [
    {
      id: 'v1',
      name: 'Team',
      items: [connectLogin({ id: 'i1', title: 'GitHub', password: secrets.itemPassword })],
    },
  ],
})
const server = await startServer(owner, {
  // The test searches its data directory.
  hasOwnPostgres: true,
  env: { BERTH_LOG_LEVEL: 'debug', BERTH_EGRESS_ALLOW: `host.berth.internal:${connect.port}` },
})
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)
const mine = await newTenant(caller, server.key, 'Mine')
const theirs = await newTenant(caller, server.key, 'Theirs')

async function newCredential(key: string, name: string, body: object = {}): Promise<Credential> {
  const values = { username: 'captain', password: secrets.password }
  const request = { name, domain: 'a.example', values, totp_secret: secrets.seed, ...body }
  const answer = await caller.sendJson(key, 'POST', '/credentials', request)
  assert.equal(answer.status, 201, answer.text)
  return answer.json as Credential
}

const columns = ['sealed_values', 'sealed_totp'] as const
type Column = (typeof columns)[number]

async function sealedOf(id: string, column: Column): Promise<Buffer> {
  const [row] = await database.run(`SELECT ${column} AS sealed FROM credentials WHERE id = $1`, [id])
  return row!['sealed'] as Buffer
}

const seal = (id: string, column: Column, sealed: Buffer) =>
  database.run(`UPDATE credentials SET ${column} = $2 WHERE id = $1`, [id, sealed])

/** Calls that decrypt the sealed value. */
async function uses(column: Column, id: string): Promise<Answer[]> {
  const path = `/credentials/${id}`
  const change = { values: { pin: '1' } }
  return column === 'sealed_totp'
    ? [await caller.sendJson(mine.key.key, 'GET', `${path}/totp-code`)]
    : [
        await caller.sendJson(mine.key.key, 'GET', path),
        await caller.sendJson(mine.key.key, 'PATCH', path, change),
        await caller.sendJson(mine.key.key, 'PATCH', path, { remove_value_keys: ['pin'] }),
      ]
}

async function assertClosed(column: Column, id: string, what: string): Promise<void> {
  for (const answer of await uses(column, id)) {
    assertError(answer, 'invalid_state', what)
    const [record] = await recordsOf(answer)
    assert.equal(record?.['status'], 422, `${what} is in the audit log`)
    for (const secret of Object.values(secrets)) assert.ok(!holds(answer.text, secret), what)
  }
}

/** Records of refusals are written a moment later, or when the log is read. */
async function recordsOf(answer: Answer): Promise<Record<string, unknown>[]> {
  const now = Date.now()
  const range = `start=${new Date(now - 60_000).toISOString()}&end=${new Date(now).toISOString()}`
  await caller.sendJson(server.key, 'GET', `/audit-logs?limit=1&${range}`)
  return database.run('SELECT * FROM audit_logs WHERE request_id = $1', [answer.headers['x-request-id']])
}

for (const column of columns) {
  test(`${column} that was changed or truncated anywhere does not decrypt`, async () => {
    const { id } = await newCredential(mine.key.key, `changed ${column}`)
    const whole = await sealedOf(id, column)
    // One change in each of version, key id, wrapped key, nonce, tag and text, and one at each end.
    for (const index of [0, 1, 9, 21, 40, 69, 81, 97, whole.length - 1]) {
      const flipped = Buffer.from(whole)
      flipped[index]! ^= 1
      await seal(id, column, flipped)
      await assertClosed(column, id, `bit of byte ${index} flipped`)
    }
    for (const length of [0, 1, 68, 69, 96, 97, whole.length - 1]) {
      await seal(id, column, whole.subarray(0, length))
      await assertClosed(column, id, `cut to ${length} bytes`)
    }
    await seal(id, column, whole)
    for (const answer of await uses(column, id)) assert.equal(answer.status, 200, answer.text)
  })

  test(`${column} of another credential, project or column does not decrypt`, async () => {
    const victim = await newCredential(theirs.key.key, `victim ${column}`)
    const own = await newCredential(mine.key.key, `own ${column}`)
    const sibling = await newCredential(mine.key.key, `sibling ${column}`)
    const other = column === 'sealed_totp' ? 'sealed_values' : 'sealed_totp'
    const moved: [what: string, sealed: Buffer][] = [
      ['of another project', await sealedOf(victim.id, column)],
      ['of another credential', await sealedOf(sibling.id, column)],
      ['of another column', await sealedOf(own.id, other)],
    ]
    for (const [what, sealed] of moved) {
      await seal(own.id, column, sealed)
      await assertClosed(column, own.id, what)
    }
    // The row itself, moved into the attacker's project.
    await database.run('UPDATE credentials SET project_id = $2 WHERE id = $1', [victim.id, mine.project.id])
    await assertClosed(column, victim.id, 'row of another project')
    // A value that does not decrypt can still be deleted.
    for (const { id } of [own, victim]) {
      assert.equal((await caller.sendJson(mine.key.key, 'DELETE', `/credentials/${id}`)).status, 204)
    }
  })
}

async function newProvider(name: string): Promise<string> {
  const body = { name, provider_type: 'onepassword', server_url: connect.url, token: secrets.providerToken }
  const answer = await caller.sendJson(server.key, 'POST', '/org/credential_providers', body)
  assert.equal(answer.status, 201, answer.text)
  return (answer.json as { id: string }).id
}

async function tokenOf(id: string): Promise<Buffer> {
  const [row] = await database.run('SELECT sealed_token FROM credential_providers WHERE id = $1', [id])
  return row!['sealed_token'] as Buffer
}

test('a provider’s token that was changed, or belongs to another provider, is never sent', async () => {
  const [one, other] = [await newProvider('one'), await newProvider('other')]
  const whole = await tokenOf(one)
  const flipped = Buffer.from(whole)
  flipped[flipped.length - 1]! ^= 1
  connect.requests.length = 0
  for (const sealed of [flipped, whole.subarray(0, 20), await tokenOf(other)]) {
    await database.run('UPDATE credential_providers SET sealed_token = $2 WHERE id = $1', [one, sealed])
    for (const [method, path] of [
      ['GET', 'items'],
      ['POST', 'test'],
    ] as const) {
      const answer = await caller.sendJson(server.key, method, `/org/credential_providers/${one}/${path}`)
      assertError(answer, 'invalid_state', path)
    }
  }
  assert.deepEqual(connect.requests, [])
  for (const id of [one, other]) {
    assert.equal((await caller.sendJson(server.key, 'DELETE', `/org/credential_providers/${id}`)).status, 204)
  }
})

test('no answer, log line, row or file holds a secret', async () => {
  const { key } = mine.key
  const answers: Answer[] = []
  const send = async (method: string, path: string, body?: object, by = key) => {
    const answer = await caller.sendJson(by, method, path, body)
    answers.push(answer)
    return answer
  }
  const uri = `otpauth://totp/Harbour:captain@example.com?secret=${secrets.seedInUri}`
  const { id } = (
    await caller.sendAs(key, {
      method: 'POST',
      path: '/credentials',
      headers: [
        ['Content-Type', 'application/json'],
        ['Idempotency-Key', 'planted'],
      ],
      body: JSON.stringify({
        name: 'planted',
        domain: 'a.example',
        values: { password: secrets.olderPassword },
        totp_secret: uri,
      }),
    })
  ).json as Credential
  await send('PATCH', `/credentials/${id}`, { values: { password: secrets.password, pin: secrets.pin } })
  await send('PATCH', `/credentials/${id}`, { totp_secret: secrets.seed })
  await send('GET', `/credentials/${id}`)
  await send('GET', '/credentials?limit=100')
  await send('GET', `/credentials/${id}/totp-code`)
  // Refusals of all kinds, each with a secret in the request.
  await send('PATCH', `/credentials/${id}`, { values: { password: secrets.password, pin: 7 } })
  await send('PATCH', `/credentials/${id}`, { totp_secret: `${secrets.seed}!` })
  await send('PATCH', `/credentials/${id}`, { name: '', values: { password: secrets.password } })
  await send('POST', '/credentials', {
    name: 'planted',
    domain: 'a.example',
    values: { password: secrets.password },
  })
  await send('POST', '/credentials', { name: 'x', domain: 'no domain', values: { pin: secrets.pin } })
  const provider = {
    name: 'planted',
    provider_type: 'onepassword',
    server_url: connect.url,
    token: secrets.olderProviderToken,
  }
  const made = await send('POST', '/org/credential_providers', provider, server.key)
  const path = `/org/credential_providers/${(made.json as { id: string }).id}`
  await send('POST', `${path}/test`, undefined, server.key)
  await send('GET', `${path}/items`, undefined, server.key)
  await send('PATCH', path, { token: secrets.providerToken }, server.key)
  const listed = await send('GET', `${path}/items`, undefined, server.key)
  assert.match(listed.text, /Team\/GitHub/)
  connect.misbehave = (request, response) =>
    void response.writeHead(500).end(JSON.stringify({ message: request.headers.authorization }))
  await send('POST', `${path}/test`, undefined, server.key)
  connect.misbehave = (request) => void request.socket.destroy()
  await send('POST', `${path}/test`, undefined, server.key)
  connect.misbehave = undefined
  await send('GET', path, undefined, server.key)
  await send('GET', '/org/credential_providers', undefined, server.key)
  await send('POST', '/org/credential_providers', { ...provider, name: 'planted' }, server.key)
  const now = Date.now()
  const range = `start=${new Date(now - 600_000).toISOString()}&end=${new Date(now + 600_000).toISOString()}`
  await send('GET', `/audit-logs?${range}`, undefined, server.key)

  await database.run('CHECKPOINT')
  const dump = await database.dump()
  assert.ok(dump['credentials']!.length > 0 && dump['credential_providers']!.length > 0)
  const rows = Object.values(dump).flat().join('\n')
  for (const [name, secret] of Object.entries(secrets)) {
    for (const answer of answers) assert.ok(!holds(answer.text, secret), `${name} is in ${answer.text}`)
    assert.ok(!holds(server.output(), secret), `${name} is in the log`)
    assert.ok(!holds(rows, secret), `${name} is in the database`)
    assert.deepEqual(filesWith(server.dataDir, secret), [], name)
  }
  // Other projects do not see it either.
  assert.deepEqual(filesWith(server.dataDir, 'captain@example.com'), [])
})

test('the stored trace of an idempotent request does not reveal its password', async () => {
  const body = { name: 'hashed', domain: 'a.example', values: { password: '1234' } }
  const sent = { method: 'POST', path: '/credentials', body: JSON.stringify(body) }
  const headers = [
    ['Content-Type', 'application/json'],
    ['Idempotency-Key', 'hashed'],
  ] as const
  assert.equal((await caller.sendAs(mine.key.key, { ...sent, headers })).status, 201)
  const [row] = await database.run("SELECT request_hash FROM idempotency_keys WHERE key = 'hashed'")
  const guess = JSON.stringify(['createCredential', null, [{}, {}, body]])
  const digest = createHash('sha256').update(guess).digest()
  assert.ok(!digest.equals(row!['request_hash'] as Buffer))
})

test('a deleted credential leaves nothing to decrypt', async () => {
  const { id } = await newCredential(mine.key.key, 'deleted')
  await caller.sendJson(mine.key.key, 'DELETE', `/credentials/${id}`)
  const [row] = await database.run('SELECT sealed_values, sealed_totp FROM credentials WHERE id = $1', [id])
  assert.deepEqual(row, { sealed_values: null, sealed_totp: null })
})

test('no request caused a server error', () => assertNoFaultLogged(server))
