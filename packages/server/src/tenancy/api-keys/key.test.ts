import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameKey, keyMaterial, newKey, publicIdOf } from './key.ts'

test('newKey() makes distinct keys, and each matches only its own hash', () => {
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

test("the public id of an operator's key does not reveal the key", () => {
  const material = keyMaterial('operators-own-key')
  assert.match(material.publicId, /^own-[0-9a-f]{16}$/)
  assert.equal(material.masked, 'op...')
  assert.equal(keyMaterial('operators-own-key').publicId, material.publicId)
})

test('publicIdOf() accepts any text', () => {
  for (const text of ['', '\0', 'é', 'x'.repeat(100_000), 'sk_', 'sk_abc_'])
    assert.match(publicIdOf(text), /^own-/)
})
