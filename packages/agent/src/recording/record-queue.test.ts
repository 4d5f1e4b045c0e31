import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_ANSWER_BYTES, MAX_KEPT_BYTES, recordKinds } from '@berth/contracts/recording'
import { FrameSplitter } from '@berth/codecs/frames/frames'
import { RecordQueue } from './record-queue.ts'

const never = new AbortController().signal
const numbersIn = (pieces: Buffer[]) =>
  new FrameSplitter({ maxBytes: MAX_KEPT_BYTES })
    .split(Buffer.concat(pieces))
    .map(({ kind, payload }) => [kind, payload.readUInt32BE(0), payload.readUInt32BE(4)])

test('records are sent again until they are acknowledged', async () => {
  const queue = new RecordQueue({ onRoom: () => {} })
  queue.add('config', 0, Buffer.from('setup'))
  queue.add('sample', 40, Buffer.from([1]), Buffer.from('picture'))
  const both = [
    [recordKinds.config, 1, 0],
    [recordKinds.sample, 2, 40],
  ]
  assert.deepEqual(numbersIn(await queue.after(0, never)), both)
  assert.deepEqual(numbersIn(await queue.after(0, never)), both)
  queue.add('end', 90, Buffer.from('stopped'))
  assert.deepEqual(numbersIn(await queue.after(1, never)), [both[1], [recordKinds.end, 3, 90]])
  assert.deepEqual(numbersIn(await queue.after(2, never)), [[recordKinds.end, 3, 90]])
})

test('a waiting reader is answered soon after the first record, and at once after the last', async () => {
  const queue = new RecordQueue({ onRoom: () => {} })
  const waiting = queue.after(0, never)
  queue.add('sample', 0, Buffer.alloc(10))
  const startedAt = performance.now()
  queue.add('end', 5, Buffer.from('stopped'))
  assert.equal(numbersIn(await waiting).length, 2)
  assert.ok(performance.now() - startedAt < 200)
})

test('a reader that leaves stops waiting', async () => {
  const queue = new RecordQueue({ onRoom: () => {} })
  const leaving = new AbortController()
  const waiting = queue.after(0, leaving.signal)
  leaving.abort()
  assert.deepEqual(await waiting, [])
})

test('an answer is bounded, and so is what is kept', async () => {
  let room = 0
  const queue = new RecordQueue({ onRoom: () => room++ })
  const piece = Buffer.alloc(1024 * 1024)
  while (!queue.isFull) queue.add('sample', 0, piece)
  const taken = await queue.after(0, never)
  assert.ok(Buffer.concat(taken).length <= MAX_ANSWER_BYTES)
  const last = numbersIn(taken).at(-1)![1]!
  assert.equal(room, 0)
  await queue.after(last, never)
  assert.equal(room, 1)
  assert.equal(queue.isFull, false)
})
