import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RFB_VERSION, RfbError } from './client-messages.ts'
import { canFollow, rfbEncodings, RfbScreenMessages } from './screen-messages.ts'

const serverInit = Buffer.concat([Buffer.alloc(20), Buffer.from([0, 0, 0, 5]), Buffer.from('Berth')])
const opening = Buffer.concat([
  Buffer.from(RFB_VERSION),
  Buffer.from([2, 1, 2]),
  Buffer.from([0, 0, 0, 0]),
  serverInit,
])

function rectangle(
  encoding: number,
  [width, height]: readonly [number, number],
  body: readonly number[] = [],
) {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(width, 4)
  head.writeUInt16BE(height, 6)
  head.writeInt32BE(encoding, 8)
  return Buffer.concat([head, Buffer.from(body)])
}

function update(rectangles: readonly Buffer[], count = rectangles.length): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16BE(count, 2)
  return Buffer.concat([head, ...rectangles])
}

const bytes = (count: number) => Array.from({ length: count }, (_each, index) => index & 0xff)
const { raw, copy, tight } = rfbEncodings

/** Each with how many pixels it paints, if it is an update. */
const messages: readonly (readonly [Buffer, number?])[] = [
  [update([rectangle(raw, [3, 2], bytes(24)), rectangle(copy, [10, 10], bytes(4))]), 106],
  [Buffer.from([2])],
  [Buffer.from([3, 0, 0, 0, 0, 0, 0, 2, 104, 105])],
  [Buffer.from([3, 0, 0, 0, 255, 255, 255, 252, 1, 0, 0, 1])],
  [Buffer.from([150])],
  [Buffer.from([248, 0, 0, 0, 128, 0, 0, 1, 2, 7, 7])],
  [update([rectangle(tight, [64, 64], [0x80, 1, 2, 3])]), 4096],
  [update([rectangle(tight, [64, 64], [0x90, 0x83, 0x01, ...bytes(131)])]), 4096],
  [update([rectangle(tight, [200, 200], [0x90, 0x80, 0x80, 0x01, ...bytes(16_384)])]), 40_000],
  [update([rectangle(tight, [2, 1], [0x00, ...bytes(6)])]), 2],
  [update([rectangle(tight, [10, 10], [0x00, 5, ...bytes(5)])]), 100],
  // Two colours: a bit for each pixel, too few to be compressed; and three, a byte for each.
  [update([rectangle(tight, [9, 3], [0x40, 1, 1, ...bytes(6), ...bytes(6)])]), 27],
  [update([rectangle(tight, [9, 3], [0x50, 1, 2, ...bytes(9), 4, ...bytes(4)])]), 27],
  [update([rectangle(tight, [9, 3], [0x40, 0, 7, ...bytes(7)])]), 27],
  [update([rectangle(tight, [1, 1], [0x80, 1, 2, 3]), rectangle(-224, [0, 0])], 0xffff), 1],
  [update([rectangle(-239, [9, 2], bytes(9 * 2 * 4 + 4))]), 0],
  [update([rectangle(0x574d5664, [2, 2], [1, 0, ...bytes(16)])]), 0],
  [update([rectangle(0x574d5664, [2, 2], [0, 0, ...bytes(32)])]), 0],
  [update([rectangle(-223, [800, 600]), rectangle(-308, [800, 600], [1, 0, 0, 0, ...bytes(16)])]), 0],
  [
    update([
      rectangle(-258, [0, 0]),
      rectangle(-261, [0, 0], [2]),
      rectangle(-307, [0, 0], [0, 0, 0, 1, 65]),
    ]),
    0,
  ],
  [update([]), 0],
]

test('the end of each message is found, whatever chunks it is in', () => {
  const all = Buffer.concat([opening, ...messages.map(([message]) => message)])
  const ends = new Set<number>([opening.length])
  let end = opening.length
  /** Of updates: where their first byte is, and where they end. */
  const updates: (readonly [number, number])[] = []
  for (const [message, pixels] of messages) {
    if (pixels !== undefined) updates.push([end, end + message.length])
    ends.add((end += message.length))
  }
  for (const size of [1, 2, 7, 64, all.length]) {
    const painted: number[] = []
    let resizes = 0
    const follower = new RfbScreenMessages({
      onUpdate: (pixels) => painted.push(pixels),
      onResize: () => resizes++,
    })
    for (let at = 0; at < all.length; at += size) {
      follower.take(all.subarray(at, at + size))
      const isEnd = ends.has(Math.min(at + size, all.length))
      assert.equal(follower.isBetween, isEnd, `after ${at + size} bytes, in pieces of ${size}`)
      const isInUpdate = updates.some(([from, to]) => from < at + size && at + size < to)
      assert.equal(follower.isInUpdate, isInUpdate, `after ${at + size} bytes, in pieces of ${size}`)
    }
    assert.deepEqual(
      painted,
      messages.flatMap(([, pixels]) => pixels ?? []),
    )
    assert.equal(resizes, 2)
  }
})

test('an unknown message or encoding is an error, and is never requested', () => {
  const wrong = [
    Buffer.from([1]),
    Buffer.from([77]),
    update([rectangle(16, [4, 4])]),
    update([rectangle(tight, [4, 4], [0xa0])]),
  ]
  for (const message of wrong) {
    const follower = new RfbScreenMessages({ onUpdate: () => {}, onResize: () => {} })
    assert.throws(() => follower.take(Buffer.concat([opening, message])), RfbError)
  }
  assert.deepEqual([0, 1, 2, 5, 6, 7, 16, 21, 50, -260, -308].filter(canFollow), [0, 1, 7, 50, -308])
})
