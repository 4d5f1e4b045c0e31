import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeChange, encodeChange } from './change-events.ts'

test('a change is the same after encoding and decoding', () => {
  const text = encodeChange('connectionChanged', { connectionId: 'c1', serverId: 's1' })
  assert.equal(text, 'auth-connection:c1:s1')
  assert.deepEqual(decodeChange(text), {
    name: 'connectionChanged',
    event: { connectionId: 'c1', serverId: 's1' },
  })
})

test('a missing field is empty', () => {
  assert.deepEqual(decodeChange('auth-connection:c1'), {
    name: 'connectionChanged',
    event: { connectionId: 'c1', serverId: '' },
  })
})

test('a database trigger uses the same words', () => {
  assert.deepEqual(decodeChange('pool:p1'), { name: 'poolChanged', event: { poolId: 'p1' } })
})

for (const text of ['', ':', 'nonsense', 'nonsense:1', 'pool', 'pool:']) {
  test(`"${text}" is an unknown change, so that caches are dropped`, () => {
    assert.deepEqual(decodeChange(text), { name: 'unknownChange', event: {} })
  })
}
