// Passkeys of credentials without a browser: what is kept of what a website made, shown, and deleted. The sites are fake.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Credential } from '@berth/contracts/credentials'
import { begin, connect, reaches, read, submit } from '../fixtures/auth-connections.ts'
import { startServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'

const server = await startServer({ after }, { env: { BERTH_LOG_LEVEL: 'debug' } })

const get = async (name: string) => (await send<Credential>(server, 'GET', `/credentials/${name}`)).body

async function credential(name: string, domain: string): Promise<void> {
  const body = { name, domain, values: { email: 'me@site.example', password: 'right' } }
  assert.equal((await send(server, 'POST', '/credentials', body)).status, 201)
}

test('a passkey that was asked for is kept in the credential, and only that of its own domain', async () => {
  await credential('asked', 'asked.example')
  const { id } = await connect(server, 'asked', { credential: { name: 'asked' } })
  await begin(server, id, { create_passkey: true })
  const done = await reaches(server, id, 'SUCCESS')
  assert.deepEqual([done.can_reauth, done.can_reauth_reason], [true, 'has_passkey'])
  const { passkeys, ...rest } = await get('asked')
  assert.deepEqual(
    passkeys!.map(({ rp_id: rpId, last_used_at: used }) => [rpId, used]),
    [['asked.example', null]],
  )
  assert.deepEqual(Object.keys(passkeys![0]!).toSorted(), ['created_at', 'id', 'last_used_at', 'rp_id'])
  assert.deepEqual(rest.value_keys, ['email', 'password'])
  assert.equal((await query(server, 'SELECT * FROM credential_passkeys')).length, 1)
})

test('a deleted passkey is gone, and deleting it twice succeeds', async () => {
  await credential('deleted', 'deleted.example')
  const { id } = await connect(server, 'deleted', { credential: { name: 'deleted' } })
  await begin(server, id, { create_passkey: true })
  await reaches(server, id, 'SUCCESS')
  const [passkey] = (await get('deleted')).passkeys!
  const path = `/credentials/deleted/passkeys/${passkey!.id}`
  assert.equal((await send(server, 'DELETE', path)).status, 204)
  assert.equal((await send(server, 'DELETE', path)).status, 204)
  assert.equal((await send(server, 'DELETE', '/credentials/deleted/passkeys/pk_none')).status, 404)
  assert.equal((await send(server, 'DELETE', `/credentials/asked/passkeys/${passkey!.id}`)).status, 404)
  assert.deepEqual((await get('deleted')).passkeys, [])
  const rows = await query<{ sealed_key: Buffer | null }>(
    server,
    'SELECT sealed_key FROM credential_passkeys WHERE id = $1',
    [passkey!.id],
  )
  assert.deepEqual(rows, [{ sealed_key: null }])
  assert.notEqual((await read(server, id)).can_reauth_reason, 'has_passkey')
})

test('the keys go with their credential', async () => {
  await credential('gone', 'gone.example')
  const { id } = await connect(server, 'gone', { credential: { name: 'gone' } })
  await begin(server, id, { create_passkey: true })
  await reaches(server, id, 'SUCCESS')
  const { id: credentialId } = await get('gone')
  assert.equal((await send(server, 'DELETE', '/credentials/gone')).status, 204)
  const rows = await query<{ sealed_key: Buffer | null }>(
    server,
    'SELECT sealed_key FROM credential_passkeys WHERE credential_id = $1',
    [credentialId],
  )
  assert.deepEqual(rows, [{ sealed_key: null }])
})

test('without a credential, one is made for what was asked for, also if nothing else is saved', async () => {
  const { id } = await connect(server, 'fresh', { save_credentials: false })
  await begin(server, id, { create_passkey: true })
  await reaches(server, id, 'AWAITING_INPUT')
  await submit(server, id, { field_values: { email: 'me@site.example', password: 'right' } })
  const done = await reaches(server, id, 'SUCCESS')
  const made = await get(done.credential!.name!)
  assert.equal(made.passkeys!.length, 1)
  assert.deepEqual(made.value_keys, [])
})

test('an item of a provider takes no passkey', async () => {
  const { id } = await connect(server, 'provider')
  await query(
    server,
    `UPDATE auth_connections SET credential = '{"provider":"p","auto":true}' WHERE id = $1`,
    [id],
  )
  const answer = await send<{ message: string }>(server, 'POST', `/auth/connections/${id}/login`, {
    create_passkey: true,
  })
  assert.equal(answer.status, 400)
  assert.match(answer.body.message, /create_passkey: needs a stored credential/)
})
