import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AddressCache } from './address-cache.ts'

test('keeps addresses as long as they may be used, at most a minute', () => {
  let now = 0
  const cache = new AddressCache({ maxNames: 8, now: () => now })
  cache.put('short', ['1.1.1.1'], 5)
  cache.put('long', ['1.0.0.1'], 86_400)
  cache.put('none', ['9.9.9.9'], 0)
  assert.equal(cache.get('none'), undefined)
  now = 4_999
  assert.deepEqual(cache.get('short'), ['1.1.1.1'])
  now = 5_000
  assert.equal(cache.get('short'), undefined)
  now = 59_999
  assert.deepEqual(cache.get('long'), ['1.0.0.1'])
  now = 60_000
  assert.equal(cache.get('long'), undefined)
})

test('keeps so many names, and no endless answers', () => {
  const cache = new AddressCache({ maxNames: 2 })
  for (const name of ['a', 'b', 'c']) cache.put(name, ['1.1.1.1'], 60)
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => cache.get(name) !== undefined),
    [false, true, true],
  )
  cache.put(
    'many',
    Array.from({ length: 33 }, () => '1.1.1.1'),
    60,
  )
  assert.equal(cache.get('many'), undefined)
})
