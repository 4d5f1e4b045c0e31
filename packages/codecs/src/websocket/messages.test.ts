import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frameHead, opcodes } from './frames.ts'
import { MessageError, MessageReader } from './messages.ts'

const frame = (opcode: number, payload: Buffer, { isFinal = true } = {}) => {
  const head = frameHead(opcode, payload.length)
  if (!isFinal) head[0]! &= 0x7f
  return Buffer.concat([head, payload])
}

test('messages arrive complete, whatever frames and chunks they are in', () => {
  const long = Buffer.alloc(70_000, 'x')
  const stream = Buffer.concat([
    frame(opcodes.text, Buffer.from('one')),
    frame(opcodes.text, Buffer.from('in '), { isFinal: false }),
    frame(opcodes.ping, Buffer.from('ping')),
    frame(opcodes.continuation, Buffer.from('parts')),
    frame(opcodes.binary, long),
    frame(opcodes.text, Buffer.alloc(0)),
    frame(opcodes.close, Buffer.from([3, 232])),
  ])
  for (const size of [1, 2, 5, 4096, stream.length]) {
    const reader = new MessageReader({ maxBytes: 70_000 })
    const found: string[] = []
    for (let at = 0; at < stream.length; at += size) {
      for (const { opcode, payload } of reader.take(stream.subarray(at, at + size))) {
        found.push(`${opcode} ${payload.toString('latin1')}`)
      }
    }
    assert.deepEqual(
      found,
      ['1 one', '9 ping', '1 in parts', `2 ${long.toString()}`, '1 ', '8 \x03\xe8'],
      `in pieces of ${size}`,
    )
  }
})

const refuses = (bytes: Buffer) =>
  assert.throws(() => [...new MessageReader({ maxBytes: 100 }).take(bytes)], MessageError)

test('a message that is too long, or not a server frame, is refused', () => {
  // By its head alone.
  refuses(frameHead(opcodes.text, 101))
  refuses(
    Buffer.concat([
      frame(opcodes.text, Buffer.alloc(60), { isFinal: false }),
      frame(opcodes.continuation, Buffer.alloc(60)),
    ]),
  )
  refuses(frameHead(opcodes.text, 1, { isMasked: true }))
  // However it is cut.
  const endless = Buffer.from([0x82, 127, ...Array<number>(12).fill(0x7f)])
  for (const pieces of [[endless], [endless.subarray(0, 5), endless.subarray(5)]]) {
    const reader = new MessageReader({ maxBytes: 100 })
    assert.throws(() => pieces.map((piece) => [...reader.take(piece)]), /a frame is too long/)
  }
})
