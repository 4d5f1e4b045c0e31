import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closeFrame, FrameReader, opcodes, pingFrame, pongTo } from './frames.ts'

/** A frame of a server, or of a client with a mask. */
function frame(first: number, payload: Buffer, mask?: readonly number[]): Buffer {
  const masked = mask ? 0x80 : 0
  const { length } = payload
  const long = Buffer.alloc(8)
  long.writeBigUInt64BE(BigInt(length))
  const size =
    length < 126
      ? Buffer.from([masked | length])
      : length < 65_536
        ? Buffer.from([masked | 126, length >> 8, length & 255])
        : Buffer.concat([Buffer.from([masked | 127]), long])
  const body = mask ? payload.map((byte, index) => byte ^ mask[index % 4]!) : payload
  return Buffer.concat([Buffer.from([first]), size, Buffer.from(mask ?? []), body])
}

/** Where frames end, as read from chunks of this size. */
function boundaries(reader: FrameReader, stream: Buffer, chunkSize: number): number[] {
  const found: number[] = []
  for (let start = 0; start < stream.length; start += chunkSize) {
    const chunk = stream.subarray(start, start + chunkSize)
    let at = 0
    while (at < chunk.length) {
      at = reader.next(chunk, at)
      if (reader.isBetween) found.push(start + at)
    }
  }
  return found
}

test('the end of frames of every length is found, whatever chunks they are in', () => {
  for (const mask of [undefined, [1, 2, 3, 4]]) {
    const frames = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000, 0, 0].map((length, index) =>
      frame(index % 2 === 0 ? 0x82 : 0x02, Buffer.alloc(length, 7), mask),
    )
    let end = 0
    const expected = frames.map(({ length }) => (end += length))
    const stream = Buffer.concat(frames)
    for (const chunkSize of [1, 2, 3, 7, 125, 4096, 65_536, stream.length]) {
      const reader = new FrameReader({ isMasked: mask !== undefined })
      assert.deepEqual(boundaries(reader, stream, chunkSize), expected, `chunks of ${chunkSize}`)
      assert.equal(reader.isBroken, false)
      assert.equal(reader.messages, 5)
    }
  }
})

function isBroken(bytes: number[], isMasked = false): boolean {
  const reader = new FrameReader({ isMasked })
  reader.next(Buffer.from(bytes), 0)
  return reader.isBroken
}

test('bytes that are not a frame break the reader', () => {
  assert.ok(isBroken([0x81, 0x80]), 'masked by a server')
  assert.ok(isBroken([0x81, 0x00], true), 'not masked by a client')
  assert.ok(isBroken([0x89, 126, 0, 126]), 'a ping that is too long')
  assert.ok(isBroken([0x08, 0]), 'a close in fragments')
  assert.ok(isBroken([0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255]), 'longer than anything')
  assert.ok(!isBroken([0x82, 127, 0, 0, 0, 0, 6, 64, 0, 0]), '100 MB')
})

test('control frames are what the specification says', () => {
  assert.deepEqual([...pingFrame], [0x89, 0])
  assert.deepEqual([...closeFrame(4001, 'ab')], [0x88, 4, 0x0f, 0xa1, 0x61, 0x62])
  const payload = Buffer.from('hello')
  const ping = frame(0x80 | opcodes.ping, payload, [9, 8, 7, 6])
  assert.deepEqual(pongTo(ping), frame(0x80 | opcodes.pong, payload))
  assert.deepEqual([...pongTo(frame(0x89, Buffer.alloc(0), [1, 2, 3, 4]))], [0x8a, 0])
})
