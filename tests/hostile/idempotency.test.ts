// One Idempotency-Key has one effect and one answer: repeated, in parallel, and after a crash.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { CreatedApiKey } from '@berth/contracts/api-keys'
import type { Project } from '@berth/contracts/projects'
import { assertError } from '../conformance/error-answer.ts'
import { newTenant } from '../conformance/fixture-keys.ts'
import { HttpCaller, type Answer } from '../conformance/http-exchange.ts'
import { ServerDatabase } from '../conformance/server-database.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { holds } from './secret-search.ts'

const owner = { after }
const server = await startServer(owner)
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)

interface Repeatable {
  readonly path?: string
  readonly body?: object
  readonly key?: string
  readonly via?: HttpCaller
}

function post(idempotencyKey: string, options: Repeatable = {}): Promise<Answer> {
  const { path = '/org/projects', body = { name: idempotencyKey }, key = server.key, via = caller } = options
  return via.sendAs(key, {
    method: 'POST',
    path,
    headers: [
      ['Content-Type', 'application/json'],
      ['Idempotency-Key', idempotencyKey],
    ],
    body: JSON.stringify(body),
  })
}

async function countNamed(table: string, name: string): Promise<unknown> {
  const [row] = await database.run(`SELECT count(*)::int AS count FROM ${table} WHERE name = $1`, [name])
  return row!['count']
}

test('a repeated request has one effect and the same answer', async () => {
  const first = await post('repeated')
  assert.equal(first.status, 201, first.text)
  assert.equal(first.headers['idempotent-replayed'], undefined)
  for (let count = 0; count < 3; count++) {
    const again = await post('repeated')
    assert.equal(again.status, 201)
    assert.equal(again.text, first.text)
    assert.equal(again.headers['idempotent-replayed'], 'true')
  }
  assert.equal(await countNamed('projects', 'repeated'), 1)
})

test('twenty parallel requests have one effect and the same answer', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => post('at-once')))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  assert.equal(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1)
  assert.equal(await countNamed('projects', 'at-once'), 1)
})

test('twenty parallel requests for a key create one key, shown to one of them', async () => {
  const path = '/org/api_keys'
  const answers = await Promise.all(Array.from({ length: 20 }, () => post('one-key', { path })))
  const records = answers.map(({ json }) => json as CreatedApiKey)
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
  assert.equal(new Set(records.map(({ id }) => id)).size, 1)
  assert.equal(records.filter(({ key }) => key !== undefined).length, 1)
  assert.equal(await countNamed('api_keys', 'one-key'), 1)
})

test('a repeated creation or rotation of a key answers with the masked record, without the key', async () => {
  const created = (await post('a-key', { path: '/org/api_keys' })).json as CreatedApiKey
  const again = await post('a-key', { path: '/org/api_keys' })
  const { key, ...rest } = created
  assert.ok(key)
  assert.deepEqual(again.json, rest)
  const path = `/org/api_keys/${created.id}/rotate`
  const { key: successor, ...rotated } = (await post('a-rotation', { path, body: {} })).json as CreatedApiKey
  assert.ok(successor)
  assert.deepEqual((await post('a-rotation', { path, body: {} })).json, rotated)
  assert.equal(await countNamed('api_keys', 'a-key'), 2)
})

test('stored answers are encrypted in the database', async () => {
  const project = (await post('kept', { body: { name: 'kept in secret' } })).json as Project
  const key = (await post('kept-key', { path: '/org/api_keys', body: { name: 'kept' } }))
    .json as CreatedApiKey
  const rows = (await database.dump())['idempotency_keys']!.join('\n')
  for (const text of [project.id, 'kept in secret', key.id, key.masked_key]) {
    assert.ok(!rows.includes(text) && !rows.includes(Buffer.from(text).toString('hex')), text)
  }
  assert.ok(!holds(rows, key.key!))
})

test('another body, path or operation with the same key is always refused and has no effect', async () => {
  await post('taken')
  const before = await database.state()
  assertError(await post('taken', { body: { name: 'another' } }), 'idempotency_key_reused')
  assertError(await post('taken', { path: '/org/api_keys' }), 'idempotency_key_reused')
  assertError(await post('taken', { path: '/org/api_keys/x/rotate', body: {} }), 'idempotency_key_reused')
  assert.deepEqual(await database.state(), before)
})

test('the alias path of the same operation is the same request', async () => {
  const first = await post('aliased')
  assert.equal((await post('aliased', { path: '/projects' })).text, first.text)
})

test('keys of different projects are independent, those of one project are shared', async () => {
  const one = await newTenant(caller, server.key, 'One')
  const two = await newTenant(caller, server.key, 'Two')
  const path = '/org/api_keys'
  const ofOne = (await post('shared', { path, key: one.key.key })).json as CreatedApiKey
  const ofTwo = (await post('shared', { path, key: two.key.key })).json as CreatedApiKey
  assert.notEqual(ofOne.id, ofTwo.id)
  assert.equal(ofTwo.project_id, two.project.id)
  const again = await post('shared', { path, key: ofOne.key! })
  assert.equal((again.json as CreatedApiKey).id, ofOne.id)
})

test('a refused request does not use up its key', async () => {
  assertError(await post('free', { body: { name: 'Default' } }), 'already_exists')
  assertError(await post('free', { body: { name: '' } }), 'bad_request')
  const answer = await post('free')
  assert.equal(answer.status, 201, answer.text)
})

test('an invalid key is refused, and the error names the header', async () => {
  const before = await database.state()
  for (const value of [
    '',
    ' ',
    'two words',
    'x'.repeat(256),
    '\u{e9}',
    Buffer.from('ключ').toString('latin1'),
  ]) {
    const answer = await post(value, { body: { name: 'never made' } })
    const { details = [] } = assertError(answer, 'bad_request', JSON.stringify(value))
    assert.match(details[0]?.message ?? '', /^Idempotency-Key: /)
  }
  const twice = await caller.sendAs(server.key, {
    method: 'POST',
    path: '/org/projects',
    headers: [
      ['Content-Type', 'application/json'],
      ['Idempotency-Key', 'a'],
      ['Idempotency-Key', 'b'],
    ],
    body: '{"name":"never made"}',
  })
  assertError(twice, 'bad_request')
  assert.deepEqual(await database.state(), before)
})

test('an answer survives a kill of the server', async () => {
  const dataDir = tempDir(owner)
  const before = await startServer(owner, { dataDir })
  const options = { key: before.key, via: new HttpCaller(owner, before.url) }
  const first = await post('outlives', options)
  const key = await post('outlives-key', { ...options, path: '/org/api_keys' })
  assert.equal(first.status, 201, first.text)
  await before.stop('SIGKILL')

  const later = await startServer(owner, { dataDir })
  const again = { key: later.key, via: new HttpCaller(owner, later.url) }
  assert.equal((await post('outlives', again)).text, first.text)
  const { key: _shownOnce, ...record } = key.json as CreatedApiKey
  assert.deepEqual((await post('outlives-key', { ...again, path: '/org/api_keys' })).json, record)
  assertError(await post('outlives', { ...again, body: { name: 'another' } }), 'idempotency_key_reused')
})
