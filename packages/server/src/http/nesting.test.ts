import assert from 'node:assert/strict'
import { test } from 'node:test'
import { excessOf } from './nesting.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const levels = (text: string, maxLevels: number) => excessOf(text, { maxLevels, maxValues: Infinity })
const values = (text: string, maxValues: number) => excessOf(text, { maxLevels: Infinity, maxValues })

test('counts nesting levels and ignores brackets in strings', () => {
  assert.equal(levels(nested(100), 100), undefined)
  assert.equal(levels(nested(101), 100), 'levels')
  assert.equal(levels('{"a":'.repeat(101) + '1' + '}'.repeat(101), 100), 'levels')
  assert.equal(levels(`[${'[1],'.repeat(1_000)}1]`, 3), undefined)
  assert.equal(levels(JSON.stringify(['['.repeat(1_000), '\\"[[['.repeat(100)]), 3), undefined)
  assert.equal(levels(`"${'['.repeat(1_000)}`, 3), undefined)
})

test('counts values, and not what is in strings', () => {
  assert.equal(values(JSON.stringify(Array.from({ length: 100 }, () => 1)), 100), undefined)
  assert.equal(values(JSON.stringify(Array.from({ length: 101 }, () => 1)), 100), 'values')
  assert.equal(values(`[${'[],'.repeat(50)}{}]`, 100), 'values')
  assert.equal(values(JSON.stringify([',[{'.repeat(1_000)]), 100), undefined)
})
