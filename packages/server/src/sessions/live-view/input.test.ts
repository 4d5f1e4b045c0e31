import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RFB_VERSION, RfbError } from '@berth/codecs/rfb/client-messages'
import { Input } from './input.ts'

const opening = Buffer.from(`${RFB_VERSION}\x01\x00`, 'latin1')
const pointer = (x: number, mask = 0) => Buffer.from([5, mask, 0, x, 0, 0])
const key = Buffer.from([4, 1, 0, 0, 0, 0, 0, 65])
const text = Buffer.from([6, 0, 0, 0, 0, 0, 0, 1, 65])
const placedKey = Buffer.from([255, 0, 0, 1, 0, 0, 0, 65, 0, 0, 0, 30])
const request = Buffer.from([3, 1, 0, 0, 0, 0, 0, 9, 0, 9])
const resize = Buffer.concat([Buffer.from([251, 0, 4, 0, 3, 0, 1, 0]), Buffer.alloc(16)])

function opened({ isReadOnly = false } = {}) {
  const passed: Buffer[] = []
  const input = new Input({ isReadOnly, pass: (bytes) => passed.push(bytes) })
  input.take(opening)
  const first = Buffer.concat(passed.splice(0))
  return { input, first, taken: () => Buffer.concat(passed.splice(0)) }
}

test('a viewer must open correctly, and disconnects nobody else', () => {
  assert.deepEqual(opened().first, Buffer.from(`${RFB_VERSION}\x01\x01`, 'latin1'))
  for (const wrong of ['RFB 003.003\n\x01\x01', `${RFB_VERSION}\x02\x01`, 'GET / HTTP/1.1\r\n']) {
    const input = new Input({ isReadOnly: false, pass: () => {} })
    assert.throws(() => input.take(Buffer.from(wrong, 'latin1')), RfbError)
  }
})

test('a read-only viewer can request pictures and nothing else', () => {
  const { input, taken } = opened({ isReadOnly: true })
  for (const each of [key, placedKey, pointer(1, 1), text, resize]) input.take(each)
  assert.equal(taken().length, 0)
  input.take(request)
  assert.deepEqual(taken(), request)
})

test('no viewer can resize the screen', () => {
  const { input, taken } = opened()
  input.take(Buffer.concat([resize, key, Buffer.from([250, 0, 1, 2])]))
  assert.deepEqual(taken(), key)
})

test('only the last pointer move is sent, but every press and release with its position', () => {
  const { input, taken } = opened()
  input.take(Buffer.concat([pointer(1), pointer(2), pointer(3), pointer(3, 1), pointer(4, 1), pointer(5, 0)]))
  assert.deepEqual(taken(), Buffer.concat([pointer(3), pointer(3, 1), pointer(4, 1), pointer(5)]))
  input.close()
})

test('a move shortly after another one is sent a little later', async () => {
  const { input, taken } = opened()
  input.take(pointer(1))
  assert.deepEqual(taken(), pointer(1))
  for (let x = 2; x < 100; x++) input.take(pointer(x))
  const early = taken()
  assert.ok(early.length <= 6, `${early.length} bytes`)
  const deadline = performance.now() + 1_000
  let late = early
  while (!late.equals(pointer(99)) && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 2))
    const next = taken()
    if (next.length > 0) late = next
  }
  assert.deepEqual(late, pointer(99))
})

test('a viewer that sends too much is paused', () => {
  const { input } = opened()
  let waitMs = 0
  for (let count = 0; count < 3_000; count++) waitMs = input.take(key)
  assert.ok(waitMs > 1_000 && waitMs <= 2_000, `${waitMs} ms`)
  const moves = opened().input
  for (let count = 0; count < 100_000; count++) assert.equal(moves.take(pointer(count % 250)), 0)
  moves.close()
})

test('unknown encodings are removed, and read-only viewers get no clipboard', () => {
  const asked = [7, -316, -309, -305, 0xc0a1e5ce | 0, 1]
  const message = Buffer.alloc(4 + asked.length * 4)
  message[0] = 2
  message.writeUInt16BE(asked.length, 2)
  for (const [index, encoding] of asked.entries()) message.writeInt32BE(encoding, 4 + index * 4)
  const { input, taken } = opened()
  input.take(message)
  const passed = taken()
  assert.equal(passed.length, 4 + 3 * 4)
  assert.deepEqual(
    [4, 8, 12].map((at) => passed.readInt32BE(at)),
    [7, 0xc0a1e5ce | 0, 1],
  )

  const watching = opened({ isReadOnly: true })
  watching.input.take(Buffer.from([2, 0, 0, 1, 0, 0, 0, 7]))
  const both = watching.taken()
  assert.equal(both.readInt32BE(8), 0xc0a1e5ce | 0)
  // Extended clipboard: capabilities, with news of text and room for nothing.
  assert.deepEqual([...both.subarray(12)], [6, 0, 0, 0, 255, 255, 255, 248, 9, 0, 0, 1, 0, 0, 0, 0])
})
