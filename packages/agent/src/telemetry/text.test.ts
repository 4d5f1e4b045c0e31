import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cut, Cutter } from './text.ts'

test('a text is cut to bytes, and never inside a character', () => {
  assert.equal(cut('abc', 3), 'abc')
  assert.equal(cut('abcd', 3), 'abc')
  assert.equal(cut('é'.repeat(10), 5), 'éé')
  assert.equal(cut('漢'.repeat(10), 8), '漢漢')
  assert.equal(cut('🙂🙂', 7), '🙂')
  assert.equal(cut('x'.repeat(100_000), 8192).length, 8192)
  assert.equal(cut('x'.repeat(8192), 8192).length, 8192)
})

test('the cutter remembers whether it cut anything', () => {
  const cutter = new Cutter()
  cutter.cut('short', 10)
  assert.equal(cutter.isTruncated, false)
  assert.deepEqual(cutter.cutMap({ a: '1', b: 2 }, 100), { a: '1', b: '2' })
  assert.equal(cutter.isTruncated, false)
  assert.deepEqual(cutter.cutMap({ a: '1', b: 'x'.repeat(200) }, 100), { a: '1' })
  assert.equal(cutter.isTruncated, true)
})
