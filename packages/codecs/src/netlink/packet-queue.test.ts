import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptPacket, askForAnswer, bindQueue, dropPacket, readPackets } from './packet-queue.ts'

/** The headers of a first packet from 127.0.0.1:40000 to 240.0.0.7:443. */
const IPV4 = '4500003c0001400040060000 7f000001 f0000007 9c4001bb 00000001000000005002ffff00000000'
const IPV6 = `6000000000140640 ${'00'.repeat(15)}01 20010db8${'00'.repeat(11)}09 9c400050 0000000100000000500200000000`

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')

/** A message of the kernel with a packet in it. */
function queued(id: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(7)
  header.writeUInt32BE(id)
  const attributes = [attribute(1, header), attribute(3, Buffer.alloc(4)), attribute(10, payload)]
  const body = Buffer.concat([Buffer.alloc(4), ...attributes])
  const head = Buffer.alloc(16)
  head.writeUInt32LE(16 + body.length, 0)
  head.writeUInt16LE(3 << 8, 4)
  return Buffer.concat([head, body])
}

function attribute(type: number, value: Buffer): Buffer {
  const padded = Buffer.alloc((4 + value.length + 3) & ~3)
  padded.writeUInt16LE(4 + value.length, 0)
  padded.writeUInt16LE(type, 2)
  value.copy(padded, 4)
  return padded
}

test('packets are read with where they go, in IPv4 and IPv6', () => {
  const both = Buffer.concat([queued(7, bytes(IPV4)), queued(8, bytes(IPV6))])
  assert.deepEqual(readPackets(both), [
    { id: 7, sourcePort: 40_000, address: '240.0.0.7', port: 443 },
    { id: 8, sourcePort: 40_000, address: '2001:db8:0:0:0:0:0:9', port: 80 },
  ])
})

test('what is not TCP, or is cut off, has no address', () => {
  const udp = bytes(IPV4)
  udp[9] = 17
  for (const payload of [udp, bytes(IPV4).subarray(0, 12), Buffer.alloc(0)]) {
    assert.deepEqual(readPackets(queued(9, payload)), [{ id: 9, sourcePort: 0, address: '', port: 0 }])
  }
})

test('anything else is left out, whatever its lengths say', () => {
  const error = Buffer.alloc(36)
  error.writeUInt32LE(36, 0)
  error.writeUInt16LE(2, 4)
  assert.deepEqual(readPackets(error), [])
  const whole = queued(1, bytes(IPV4))
  for (let length = 0; length < whole.length; length++)
    assert.deepEqual(readPackets(whole.subarray(0, length)), [])
  for (const size of [0, 1, 15, 0xffff_ffff]) {
    const wrong = Buffer.from(whole)
    wrong.writeUInt32LE(size, 0)
    assert.deepEqual(readPackets(wrong), [], String(size))
  }
})

test('verdicts name the packet, and carry the mark', () => {
  assert.equal(
    acceptPacket(0, 7, 2).toString('hex'),
    `2800000001030100${'00'.repeat(12)}0c00020000000001000000070800030000000002`,
  )
  assert.equal(acceptPacket(0, 7).length, 32)
  assert.equal(dropPacket(5, 9).toString('hex').slice(32), '000000050c0002000000000000000009')
})

test('a socket is bound with two messages, and an empty one is answered', () => {
  const [bind, parameters] = bindQueue(3)
  assert.equal(bind!.toString('hex').slice(32), '000000030800010001000000')
  assert.equal(parameters!.toString('hex').slice(32), '00000003090002000000008002000000')
  assert.equal(askForAnswer(0).readUInt16LE(6), 5)
})
