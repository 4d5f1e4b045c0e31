import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNestedDeeper } from './nesting.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

test('counts nesting levels and ignores brackets in strings', () => {
  assert.equal(isNestedDeeper(nested(100), 100), false)
  assert.equal(isNestedDeeper(nested(101), 100), true)
  assert.equal(isNestedDeeper('{"a":'.repeat(101) + '1' + '}'.repeat(101), 100), true)
  assert.equal(isNestedDeeper(`[${'[1],'.repeat(1_000)}1]`, 3), false)
  assert.equal(isNestedDeeper(JSON.stringify(['['.repeat(1_000), '\\"[[['.repeat(100)]), 3), false)
  assert.equal(isNestedDeeper(`"${'['.repeat(1_000)}`, 3), false)
})
