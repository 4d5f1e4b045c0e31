import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { ContentSealer, openContent, PIECE_BYTES } from './sealed-content.ts'

const lock = { key: randomBytes(32), context: 'test/one' }

async function sealed(plain: Buffer): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (let at = 0; at < plain.length; at += 10_007) pieces.push(plain.subarray(at, at + 10_007))
  return buffer(Readable.from(pieces).pipe(new ContentSealer(lock)))
}

const readFrom =
  (bytes: Buffer) =>
  async ({ start, end }: { start: number; end: number }) =>
    Readable.from([bytes.subarray(start, end + 1)])

test('reads back any range of sealed content', async () => {
  for (const size of [1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, 200_001]) {
    const plain = randomBytes(size)
    const stored = await sealed(plain)
    assert.equal(stored.includes(plain.subarray(0, 16)), size < 16 && stored.includes(plain))
    const places = [0, 1, size >> 1, PIECE_BYTES - 1, PIECE_BYTES, 2 * PIECE_BYTES - 1, size - 1]
    for (const start of places) {
      for (const end of places) {
        if (start > end || end >= size) continue
        const read = await buffer(openContent(readFrom(stored), lock, { sizeBytes: size, start, end }))
        assert.deepEqual(read, plain.subarray(start, end + 1), `${start}-${end} of ${size}`)
      }
    }
  }
})

test('refuses content that was changed, cut or moved, or that belongs elsewhere', async () => {
  const plain = randomBytes(3 * PIECE_BYTES)
  const stored = await sealed(plain)
  const whole = { sizeBytes: plain.length, start: 0, end: plain.length - 1 }
  const stride = stored.length / 3
  const flipped = Buffer.from(stored)
  flipped[100]! ^= 1
  const swapped = Buffer.concat([
    stored.subarray(stride, 2 * stride),
    stored.subarray(0, stride),
    stored.subarray(2 * stride),
  ])
  for (const wrong of [flipped, swapped, stored.subarray(0, -1), stored.subarray(0, 2 * stride)]) {
    await assert.rejects(buffer(openContent(readFrom(wrong), lock, whole)), { code: 'invalid_state' })
  }
  const elsewhere = { ...lock, context: 'test/two' }
  await assert.rejects(buffer(openContent(readFrom(stored), elsewhere, whole)), { code: 'invalid_state' })
})
