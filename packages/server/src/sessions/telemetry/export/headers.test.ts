import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalName, changedHeaders } from './headers.ts'

test('names are canonical', () => {
  assert.equal(canonicalName('x-API-key'), 'X-Api-Key')
  assert.equal(canonicalName('authorization'), 'Authorization')
  assert.deepEqual(changedHeaders({}, { 'x-api-key': 'a', AUTHORIZATION: 'b' }), {
    'X-Api-Key': 'a',
    Authorization: 'b',
  })
})

test('a change sets, removes and keeps, whatever the case of the names', () => {
  const before = { Authorization: 'one', 'X-Kept': 'two', 'X-Gone': 'three' }
  assert.deepEqual(changedHeaders(before, { authorization: 'new', 'x-gone': null, 'x-absent': null }), {
    Authorization: 'new',
    'X-Kept': 'two',
  })
})

test('impossible headers are refused by name', () => {
  const refused: [Record<string, string | null>, RegExp][] = [
    [{ 'a b': 'x' }, /"a b", which is no name/],
    [{ '': 'x' }, /no name/],
    [{ 'a\r\nb': 'x' }, /"a\?\?b"/],
    [{ host: 'x' }, /Host: the export sets it/],
    [{ 'content-type': 'x' }, /Content-Type/],
    [{ 'transfer-encoding': null }, /Transfer-Encoding/],
    [{ 'X-One': 'a', 'x-one': 'b' }, /X-One twice/],
    [{ 'X-One': '' }, /null to remove/],
    [{ 'X-One': 'a\r\nX-Two: b' }, /characters/],
    [{ 'X-One': '\u0100' }, /characters/],
  ]
  for (const [headers, message] of refused) assert.throws(() => changedHeaders({}, headers), message)
})

test('names and values together have a bound', () => {
  assert.doesNotThrow(() => changedHeaders({}, { 'X-1': 'a'.repeat(8189) }))
  assert.throws(() => changedHeaders({}, { 'X-1': 'a'.repeat(8190) }), /8193 bytes/)
  assert.throws(() => changedHeaders({ 'X-1': 'a'.repeat(8189) }, { 'X-2': 'b' }), /8193|819\d bytes/)
})
