// Imports of sessions without a browser: what is taken and refused, who may, and what remains. The sites are fake.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { MAX_IMPORT_BYTES } from '@berth/contracts/session-file'
import type { ImportSessionResponse } from '@berth/contracts/session-import'
import { begin, connect, reaches, read, timeline } from '../fixtures/auth-connections.ts'
import { startServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'

const server = await startServer({ after }, { env: { BERTH_LOG_LEVEL: 'debug' } })
const right = { name: 'sid', value: 'right', domain: 'imported.example', path: '/' }

type Answer = ImportSessionResponse & { message: string }

const post = (id: string, body: object) =>
  send<Answer>(server, 'POST', `/auth/connections/${id}/import`, body)

test('a right session makes the connection authenticated, and is stored nowhere else', async () => {
  const { id } = await connect(server, 'imported')
  const { status, body } = await post(id, { storage_state: { cookies: [right], origins: [] } })
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.id, body.flow_type, body.cookies, body.left_out], [id, 'LOGIN', 1, []])
  const done = await reaches(server, id, 'SUCCESS')
  assert.equal(done.status, 'AUTHENTICATED')
  assert.deepEqual([done.can_reauth, done.can_reauth_reason], [false, 'no_credential'])
  assert.equal(done.credential, undefined)
  assert.equal((await timeline(server, id))[0]!.status, 'SUCCESS')
  assert.deepEqual(await query(server, 'SELECT * FROM auth_imports'), [])
})

test('a wrong one fails with its own code', async () => {
  const { id } = await connect(server, 'imported')
  await post(id, { cookies: [{ ...right, value: 'wrong' }] })
  const failed = await reaches(server, id, 'FAILED')
  assert.deepEqual([failed.error_code, failed.status], ['imported_session_rejected', 'NEEDS_AUTH'])
  assert.deepEqual(await query(server, 'SELECT * FROM auth_imports'), [])
})

test('a session is sealed while its flow runs', async () => {
  const { id } = await connect(server, 'imported')
  await post(id, { cookies: [{ ...right, name: 'a-name-to-find' }] })
  const rows = await query<{ sealed_session: Buffer }>(server, 'SELECT sealed_session FROM auth_imports')
  for (const { sealed_session: sealed } of rows) assert.ok(!sealed.includes('a-name-to-find'))
  await reaches(server, id, 'SUCCESS')
  assert.ok(!server.output().includes('a-name-to-find'))
})

test('what is refused is named, and begins no flow', async () => {
  const { id } = await connect(server, 'imported')
  const cases: readonly (readonly [object, RegExp])[] = [
    [{}, /storage_state: exactly one of/],
    [{ cookies: [right], cookies_txt: 'x' }, /exactly one of/],
    [{ cookies: [{ ...right, domain: 'elsewhere.example' }] }, /cookies: has nothing that imported\.example/],
    [{ cookies: [{ ...right, sameSite: 'Never' }] }, /cookies\[0\]\.sameSite: must be/],
    [{ cookies_txt: 'imported.example\tTRUE' }, /cookies_txt: line 1 must have 7 fields/],
    [{ storage_state: { cookies: 'all' } }, /storage_state\.cookies: must be array/],
    [{ sessions: [] }, /exactly one of/],
  ]
  for (const [body, says] of cases) {
    const answer = await post(id, body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(answer.body.message, says)
  }
  const large = await post(id, { cookies_txt: 'x'.repeat(MAX_IMPORT_BYTES) })
  assert.equal(large.status, 413)
  assert.equal((await read(server, id)).flow_status, null)
})

test('one flow runs at a time', async () => {
  const { id } = await connect(server, 'slow')
  await begin(server, id)
  const answer = await post(id, { cookies: [{ ...right, domain: 'slow.example' }] })
  assert.equal(answer.status, 409)
  await send(server, 'POST', `/auth/connections/${id}/cancel`)
})
