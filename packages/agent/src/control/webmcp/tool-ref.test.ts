import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeRef, encodeRef } from './tool-ref.ts'

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('a reference comes back as it was, and nothing else is one', () => {
  const ref = { targetId: 'A1', frameId: 'B2', origin: 'https://a.example', name: 'größer "x" 漢' }
  assert.match(encodeRef(ref), /^[\w-]+$/)
  assert.deepEqual(decodeRef(encodeRef(ref)), ref)
  for (const wrong of ['', '%', 'add', encoded({}), encoded(['a', 'b', 'c']), encoded(['a', 'b', 'c', 1])]) {
    assert.equal(decodeRef(wrong), undefined, wrong)
  }
})
