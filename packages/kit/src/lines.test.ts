import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineSplitter } from './lines.ts'

test('LineSplitter finds the same lines wherever the bytes are cut', () => {
  const bytes = Buffer.from('one\n\nthrée\nrest')
  for (let size = 1; size <= bytes.length; size++) {
    const splitter = new LineSplitter({ maxBytes: 10 })
    const lines: string[] = []
    for (let at = 0; at < bytes.length; at += size) {
      lines.push(...splitter.split(bytes.subarray(at, at + size)).map(String))
    }
    assert.deepEqual(lines, ['one', '', 'thrée'], `pieces of ${size}`)
  }
})

test('LineSplitter refuses a line that does not end, however it comes', () => {
  const splitter = new LineSplitter({ maxBytes: 4 })
  splitter.split(Buffer.from('x\nabcd'))
  assert.throws(() => splitter.split(Buffer.from('e')), /longer than 4 bytes/)
})
