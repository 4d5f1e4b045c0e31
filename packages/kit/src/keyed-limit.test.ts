import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyedLimit } from './keyed-limit.ts'

test('KeyedLimit lets in as many as it may for each key, and no more', () => {
  const limit = new KeyedLimit(2)
  const first = limit.enter('a')
  assert.ok(first && limit.enter('a'))
  assert.equal(limit.enter('a'), undefined)
  assert.equal(limit.hasRoom('a'), false)
  assert.ok(limit.enter('b'))
  assert.equal(limit.countOf('a'), 2)
  first[Symbol.dispose]()
  assert.equal(limit.countOf('a'), 1)
  assert.ok(limit.enter('a'))
})

test('KeyedLimit gives a place back once, however often it is disposed', () => {
  const limit = new KeyedLimit(2)
  const first = limit.enter('a')!
  limit.enter('a')
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  assert.equal(limit.countOf('a'), 1)
})
