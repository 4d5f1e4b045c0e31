import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameSplitter, toFrame } from './frames.ts'

const frames = [
  { kind: 1, payload: Buffer.from('one') },
  { kind: 2, payload: Buffer.alloc(0) },
  { kind: 3, payload: Buffer.alloc(1000, 'x') },
]
const stream = Buffer.concat(frames.map(({ kind, payload }) => toFrame(kind, payload)))

test('frames are found, whatever chunks they are in', () => {
  for (const size of [1, 2, 4, 5, 6, 7, 500, stream.length]) {
    const splitter = new FrameSplitter({ maxBytes: 1000 })
    const found = []
    for (let at = 0; at < stream.length; at += size)
      found.push(...splitter.split(stream.subarray(at, at + size)))
    assert.deepEqual(found, frames, `in pieces of ${size}`)
    assert.ok(splitter.isBetween)
  }
})

test('an end within a frame is noticed', () => {
  const splitter = new FrameSplitter({ maxBytes: 1000 })
  splitter.split(stream.subarray(0, stream.length - 1))
  assert.ok(!splitter.isBetween)
})

test('a frame that is too long is refused as soon as its head is read', () => {
  const splitter = new FrameSplitter({ maxBytes: 999 })
  assert.throws(() => splitter.split(stream.subarray(0, 20)), /1000 bytes/)
})
