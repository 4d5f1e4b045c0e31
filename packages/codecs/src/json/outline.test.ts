import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonOutline } from './outline.ts'

const limits = { maxDepth: 4, maxValues: 20 }

/** In pieces of every size. */
function look(text: string): void {
  const bytes = Buffer.from(text)
  for (const size of [1, 2, 3, 7, Math.max(1, bytes.length)]) {
    const outline = new JsonOutline(limits)
    for (let at = 0; at < bytes.length; at += size) outline.take(bytes.subarray(at, at + size))
    outline.end()
  }
}

test('accepts lists and objects, whatever their strings contain', () => {
  const values = [{}, [], { a: '"[{,\\', 'b"]': ['}', '\\"'] }, [1, 2.5e3, true, null, ['ü€😀']]]
  for (const value of values) {
    look(JSON.stringify(value))
    look(`\n${JSON.stringify(value, null, 2)}\n`)
  }
})

test('refuses a text that is not a list or object, is incomplete, or continues after its end', () => {
  for (const text of ['"text"', '17', 'null', 'nonsense', ']']) {
    assert.throws(() => look(text), /neither a list nor an object/, text)
  }
  for (const text of ['', '   ', '[', '{"a":"', '{"a":"}', '["\\"]']) {
    assert.throws(() => look(text), /it is cut off/, text)
  }
  for (const text of ['{}{}', '[] x', '[],']) assert.throws(() => look(text), /data after its end/, text)
})

test('refuses a text that is nested too deep or has too many values, even if it is short', () => {
  look('[[[[]]]]')
  assert.throws(() => look('[[[[[]]]]]'), /nests deeper than 4/)
  look(JSON.stringify(Array.from({ length: 20 }, () => 1)))
  assert.throws(() => look(JSON.stringify(Array.from({ length: 21 }, () => 1))), /more than 20 values/)
  assert.throws(() => look(`[${'[],'.repeat(11)}[]]`), /more than 20 values/)
})
