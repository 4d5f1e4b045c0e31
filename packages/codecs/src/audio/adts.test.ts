import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdtsError, AdtsReader } from './adts.ts'

function frame(payload: Buffer): Buffer {
  const length = payload.length + 7
  const head = Buffer.from([
    0xff,
    0xf1,
    0x4c,
    0x80 | (length >> 11),
    (length >> 3) & 0xff,
    ((length & 7) << 5) | 0x1f,
    0xfc,
  ])
  return Buffer.concat([head, payload])
}

const payloads = [Buffer.from('one'), Buffer.alloc(2_000, 7), Buffer.from([0xff, 0xf1, 0])]
const stream = Buffer.concat(payloads.map(frame))

test('frames come out whole, however they arrive', () => {
  for (const step of [1, 7, 64, stream.length]) {
    const reader = new AdtsReader()
    const frames: Buffer[] = []
    for (let at = 0; at < stream.length; at += step)
      frames.push(...reader.take(stream.subarray(at, at + step)))
    assert.deepEqual(frames, payloads)
  }
})

test('what is no frame is refused', () => {
  assert.throws(() => new AdtsReader().take(Buffer.alloc(7)), AdtsError)
  assert.throws(() => new AdtsReader().take(frame(Buffer.alloc(0))), AdtsError)
})
