import assert from 'node:assert/strict'
import { soundRequest, wantsSound } from './sound-messages.ts'
import { test } from 'node:test'
import { MAX_CUT_TEXT_BYTES, RFB_VERSION, RfbClientMessages, RfbError } from './client-messages.ts'

const opening = Buffer.from(`${RFB_VERSION}\x01\x01`, 'latin1')
const messages = [
  Buffer.alloc(20),
  Buffer.from([2, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 1]),
  Buffer.from([3, 1, 0, 0, 0, 0, 0, 9, 0, 9]),
  Buffer.from([4, 1, 0, 0, 0, 0, 0, 65]),
  Buffer.from([5, 1, 0, 1, 0, 2]),
  Buffer.from([6, 0, 0, 0, 0, 0, 0, 2, 104, 105]),
  Buffer.from([6, 0, 0, 0, 255, 255, 255, 252, 1, 0, 0, 1]),
  Buffer.from([150, 1, 0, 0, 0, 0, 0, 9, 0, 9]),
  Buffer.from([248, 0, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]),
  Buffer.from([250, 0, 1, 2]),
  Buffer.concat([Buffer.from([251, 0, 4, 0, 3, 0, 1, 0]), Buffer.alloc(16)]),
  Buffer.from([255, 0, 0, 1, 0, 0, 0, 65, 0, 0, 0, 30]),
]

test('messages are the same, whatever chunks they are in', () => {
  const all = Buffer.concat([opening, ...messages])
  const expected = [Buffer.from(RFB_VERSION), Buffer.from([1]), Buffer.from([1]), ...messages]
  for (const size of [all.length, 1, 2, 7, 64]) {
    const splitter = new RfbClientMessages()
    const found: Buffer[] = []
    for (let at = 0; at < all.length; at += size) found.push(...splitter.split(all.subarray(at, at + size)))
    assert.deepEqual(found, expected, `in pieces of ${size}`)
    assert.equal(splitter.openingSteps, 3)
  }
})

test('an unknown or too long message is refused before it is stored', () => {
  const tooLong = Buffer.alloc(8)
  tooLong[0] = 6
  for (const length of [MAX_CUT_TEXT_BYTES + 1, -MAX_CUT_TEXT_BYTES - 1, -(2 ** 31)]) {
    tooLong.writeInt32BE(length, 4)
    assert.throws(() => new RfbClientMessages().split(Buffer.concat([opening, tooLong])), RfbError)
  }
  for (const bytes of [[1], [7], [255, 2], [255, 1, 0, 2], [252], [2, 0, 255, 255]]) {
    assert.throws(() => new RfbClientMessages().split(Buffer.concat([opening, Buffer.from(bytes)])), RfbError)
  }
})

test('a viewer asks for sound, and for silence', () => {
  const splitter = new RfbClientMessages()
  splitter.split(opening)
  const asked = [soundRequest(true), soundRequest(false)]
  const found = splitter.split(Buffer.concat(asked))
  assert.deepEqual(found, asked)
  assert.deepEqual(found.map(wantsSound), [true, false])
  assert.equal(wantsSound(Buffer.from([255, 0, 0, 0])), undefined)
})
