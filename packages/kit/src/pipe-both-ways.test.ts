import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pipeBothWays } from './pipe-both-ways.ts'

/** Both ends of a TCP connection. */
async function pair(t: TestContext): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [far] = (await once(server, 'connection')) as [Socket]
  server.close()
  for (const socket of [near, far]) {
    socket.on('error', () => {})
    t.after(() => socket.destroy())
  }
  return [near, far]
}

test('splice passes 20 MB to a slow reader without buffering them', async (t) => {
  const [writer, one] = await pair(t)
  const [other, reader] = await pair(t)
  pipeBothWays(one, other)
  const size = 20 * 1024 * 1024
  writer.end(Buffer.alloc(size, 1))
  await delay(200)
  const held = one.readableLength + other.writableLength
  assert.ok(held < 1024 * 1024, `${held} bytes are held`)
  let received = 0
  for await (const chunk of reader as AsyncIterable<Buffer>) {
    received += chunk.length
    if (received % 7 === 0) await delay(1)
  }
  assert.equal(received, size)
})

test('splice ends each side when the other ends', async (t) => {
  for (const end of [(socket: Socket) => socket.end(), (socket: Socket) => socket.destroy()]) {
    for (const which of [0, 1]) {
      const [near, one] = await pair(t)
      const [other, far] = await pair(t)
      pipeBothWays(one, other)
      const ends = [near, far]
      for (const socket of ends) socket.resume()
      end(ends[which]!)
      for (const socket of [one, other]) if (!socket.closed) await once(socket, 'close')
    }
  }
})
