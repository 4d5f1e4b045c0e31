import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOfAnswer } from './lines.ts'

const lines = [{ text: 'first ü€😀' }, { text: 'a\\nb' }, 3, { deep: [{}, '}\n{'] }]

test('every line comes once and in order, however the answer is cut', async () => {
  const whole = lines.map((line) => JSON.stringify(line)).join('\n')
  for (const text of [whole, `${whole}\n`]) {
    const bytes = new TextEncoder().encode(text)
    for (const size of [1, 2, 3, 7, 20, bytes.length]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      )
      const read = await Array.fromAsync(linesOfAnswer(new Response(ReadableStream.from(pieces) as never)))
      assert.deepEqual(read.flat(), lines)
    }
  }
})

test('an answer without lines has none', async () => {
  assert.deepEqual(await Array.fromAsync(linesOfAnswer(new Response(''))), [])
})
