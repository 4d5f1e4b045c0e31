import assert from 'node:assert/strict'
import { test } from 'node:test'
import { channelOf, readCommand } from './command.ts'

const read = (value: unknown) => readCommand(JSON.stringify(value))

test('a command keeps its channel', () => {
  const command = { id: 7, method: 'session.status', params: {}, 'goog:channel': 'mine' }
  assert.deepEqual(read(command), command)
  assert.deepEqual(channelOf(command), { 'goog:channel': 'mine' })
})

test('an empty channel is none', () => {
  assert.deepEqual(read({ id: 7, method: 'a', params: {}, 'goog:channel': '' }), {
    id: 7,
    method: 'a',
    params: {},
  })
})

test('the answer to a malformed command has the id of the command', () => {
  const malformed = [
    { id: 7 },
    { id: 7, method: 1, params: {} },
    { id: 7, method: 'a' },
    { id: 7, method: 'a', params: null },
    { id: 7, method: 'a', params: [] },
    { id: 7, method: 'a', params: {}, 'goog:channel': 1 },
  ]
  for (const each of malformed) {
    const result = read(each)
    assert.ok('problem' in result, JSON.stringify(each))
    assert.equal(result.id, 7)
  }
})

test('the answer to a message without a usable id has none', () => {
  for (const text of ['nonsense', '[]', 'null', '{}', '{"id":-1}', '{"id":1.5}', '{"id":"1"}']) {
    const result = readCommand(text)
    assert.ok('problem' in result, text)
    assert.equal(result.id, null)
  }
})
