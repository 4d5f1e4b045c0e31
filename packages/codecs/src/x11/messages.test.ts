import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readXMessage, XMessageReader } from './messages.ts'

const setup = Buffer.from([1, 0, 11, 0, 0, 0, 2, 0, ...Buffer.from('eight...')])
const event = Buffer.alloc(32, 22)

function reply(sequence: number, words: number): Buffer {
  const bytes = Buffer.alloc(32 + words * 4, sequence)
  bytes[0] = 1
  bytes.writeUInt16LE(sequence, 2)
  bytes.writeUInt32LE(words, 4)
  return bytes
}

/** Puts the stream into the reader in pieces of that size. */
function feed(reader: XMessageReader, stream: Buffer, size: number): boolean {
  for (let at = 0; at < stream.length;) {
    const room = reader.room()
    const piece = stream.subarray(at, at + Math.min(size, room.length))
    piece.copy(room)
    at += piece.length
    if (!reader.take(piece.length)) return false
  }
  return true
}

test('short and long messages arrive complete, whatever chunks they are in', () => {
  const messages = [setup, event, reply(1, 0), reply(2, 50_000), event, reply(3, 16_376), reply(4, 7)]
  const stream = Buffer.concat(messages)
  for (const size of [7, 32, 1000, 65_536, stream.length]) {
    const found: Buffer[] = []
    const reader = new XMessageReader({ onMessage: (each) => found.push(each), roomFor: () => undefined })
    assert.ok(feed(reader, stream, size))
    assert.deepEqual(found, messages, `in pieces of ${size}`)
  }
})

test('a long reply is read into the memory that the caller provides', () => {
  const room = Buffer.alloc(300_000)
  const found: Buffer[] = []
  const reader = new XMessageReader({
    onMessage: (each) => found.push(each),
    roomFor: (length) => room.subarray(0, length),
  })
  feed(reader, Buffer.concat([setup, reply(1, 50_000)]), 40_000)
  assert.equal(found[1]!.buffer, room.buffer)
  assert.deepEqual(found[1], reply(1, 50_000))
})

test('a message that is too long is refused as soon as its head is read', () => {
  const head = reply(1, 0)
  head.writeUInt32LE(0xffffffff, 4)
  const reader = new XMessageReader({ onMessage: () => {}, roomFor: () => undefined })
  assert.equal(feed(reader, Buffer.concat([setup, head]), 100), false)
})

test('replies, errors and events are distinguished', () => {
  assert.deepEqual(readXMessage(reply(258, 0)), { kind: 'reply', sequence: 258 })
  assert.deepEqual(readXMessage(Buffer.from([0, 3, 5, 0, 0, 0, 0, 0, 7, 0, 20])), {
    kind: 'error',
    sequence: 5,
    code: 3,
    minor: 7,
    major: 20,
  })
  assert.deepEqual(readXMessage(Buffer.from([0x80 | 33])), { kind: 'event', code: 33, isSent: true })
})
