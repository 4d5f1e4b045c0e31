import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameKey, keyMaterial, newKey, publicIdOf } from './key.ts'

test('newKey() makes keys that differ, prove themselves and nothing else', () => {
  const one = newKey()
  const two = newKey()
  assert.notEqual(one.key, two.key)
  assert.notEqual(one.publicId, two.publicId)
  assert.ok(isSameKey(one.key, one.hash))
  assert.ok(!isSameKey(two.key, one.hash))
  assert.ok(!isSameKey(`${one.key} `, one.hash))
  assert.equal(publicIdOf(one.key), one.publicId)
  assert.ok(!one.hash.toString('utf8').includes(one.key))
})

test('a key of the operator has a public id that does not give it away', () => {
  const material = keyMaterial('operators-own-key')
  assert.match(material.publicId, /^own-[0-9a-f]{16}$/)
  assert.equal(material.masked, 'op...')
  assert.equal(keyMaterial('operators-own-key').publicId, material.publicId)
})

test('publicIdOf() takes any text, however strange', () => {
  for (const text of ['', '\0', 'é', 'x'.repeat(100_000), 'sk_', 'sk_abc_'])
    assert.match(publicIdOf(text), /^own-/)
})
