import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteQueue } from './byte-queue.ts'

const bytes = Buffer.from(Uint8Array.from({ length: 200 }, (_none, index) => index).buffer)

test('bytes are taken in order, whatever pieces they are in', () => {
  for (const pieceSize of [1, 2, 3, 7, 64, 200]) {
    for (const takeSize of [1, 2, 5, 50, 200]) {
      const queue = new ByteQueue()
      for (let at = 0; at < bytes.length; at += pieceSize) queue.push(bytes.subarray(at, at + pieceSize))
      assert.equal(queue.length, bytes.length)
      const taken: Buffer[] = []
      while (queue.length >= takeSize) {
        assert.equal(queue.peek(1)[0], taken.length * takeSize)
        taken.push(queue.take(takeSize))
      }
      assert.deepEqual(Buffer.concat(taken), bytes, `${takeSize} of pieces of ${pieceSize}`)
      assert.equal(queue.length, 0)
    }
  }
})

test('skipping removes at most what is there', () => {
  const queue = new ByteQueue()
  queue.push(bytes.subarray(0, 10))
  queue.push(bytes.subarray(10, 20))
  assert.equal(queue.skip(15), 15)
  assert.deepEqual([...queue.peek(2)], [15, 16])
  assert.equal(queue.skip(100), 5)
  assert.equal(queue.length, 0)
})

test('bytes within one piece are not copied', () => {
  const queue = new ByteQueue()
  queue.push(bytes)
  queue.skip(10)
  assert.equal(queue.take(20).buffer, bytes.buffer)
})

test('after compact() the rest does not keep its piece in memory', () => {
  const queue = new ByteQueue()
  queue.push(bytes)
  queue.skip(190)
  queue.compact()
  assert.notEqual(queue.peek(10).buffer, bytes.buffer)
  assert.deepEqual(queue.take(10), bytes.subarray(190))
})

test('reading more than there is throws', () => {
  const queue = new ByteQueue()
  queue.push(bytes.subarray(0, 3))
  assert.throws(() => queue.take(4), RangeError)
  assert.throws(() => new ByteQueue().peek(1), RangeError)
  assert.equal(new ByteQueue().take(0).length, 0)
})
