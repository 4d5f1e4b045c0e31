import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClientFrames, FrameError } from './client-frames.ts'
import { frameHead, opcodes } from './frames.ts'

const mask = Buffer.from([1, 2, 3, 250])

function frame(first: number, payload: Buffer): Buffer {
  const head = frameHead(opcodes.binary, payload.length)
  head[0] = first
  head[1]! |= 0x80
  const masked = Buffer.from(payload.map((byte, index) => byte ^ mask[index & 3]!))
  return Buffer.concat([head, mask, masked])
}

test('payloads are the same, whatever chunks they are in', () => {
  const long = Buffer.from(Array.from({ length: 70_000 }, (_none, index) => index & 0xff))
  const frames = [
    frame(0x82, Buffer.from('short')),
    frame(0x02, Buffer.from('in ')),
    frame(0x89, Buffer.from('ping')),
    frame(0x80, Buffer.from('parts')),
    frame(0x82, Buffer.alloc(0)),
    frame(0x82, long.subarray(0, 300)),
    frame(0x82, long),
    frame(0x88, Buffer.from([3, 232])),
  ]
  const all = Buffer.concat(frames)
  for (const size of [1, 3, 64, all.length]) {
    const reader = new ClientFrames()
    const data: Buffer[] = []
    const controls: string[] = []
    for (let at = 0; at < all.length; at += size) {
      for (const { opcode, bytes } of reader.take(Buffer.from(all.subarray(at, at + size)))) {
        if (opcode === 2) data.push(Buffer.from(bytes))
        else controls.push(`${opcode} ${bytes.toString('latin1')}`)
      }
    }
    const expected = Buffer.concat([Buffer.from('shortin parts'), long.subarray(0, 300), long])
    assert.ok(Buffer.concat(data).equals(expected), `in pieces of ${size}`)
    assert.deepEqual(controls, ['9 ping', '8 \x03\xe8'])
  }
})

test('anything but a client frame is an error with a close code', () => {
  const tooLong = Buffer.from([0x82, 0xff, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0])
  const cases: [Buffer, number][] = [
    [Buffer.from([0x82, 0x01, 0]), 1002],
    [Buffer.from([0xc2, 0x81]), 1002],
    [frame(0x83, Buffer.from('x')), 1002],
    [frame(0x8b, Buffer.from('x')), 1002],
    [frame(0x09, Buffer.from('x')), 1002],
    [frame(0x89, Buffer.alloc(126)), 1002],
    [frame(0x81, Buffer.from('text')), 1003],
    [tooLong, 1009],
  ]
  for (const [bytes, code] of cases) {
    assert.throws(
      () => new ClientFrames().take(bytes),
      (error) => error instanceof FrameError && error.code === code,
    )
  }
})
