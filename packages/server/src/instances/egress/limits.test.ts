import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer, request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import {
  ask,
  codeOf,
  echo,
  listenOn,
  openSocket,
  openTunnel,
  readUntil,
  startProxy,
  startServer,
} from '../../../../../tests/fixtures/egress.ts'

const MEBIBYTE = 1024 * 1024
const LARGE = 20 * MEBIBYTE
/** What a stopped reader leaves in the buffers of streams and kernel sockets. */
const MAX_ON_THE_WAY = 12 * MEBIBYTE
/** Far more than that, to expose a proxy without backpressure. */
const ENDLESS = 200 * MEBIBYTE

function* blocks(bytes: number): Iterable<Buffer> {
  for (let made = 0; made < bytes; made += 64 * 1024) yield Buffer.alloc(64 * 1024, made >> 16)
}

async function countBytes(stream: Readable): Promise<number> {
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) bytes += chunk.length
  return bytes
}

/** Writes until the stream blocks, and returns how much it accepted. */
async function writeUntilStopped(stream: Writable): Promise<number> {
  const block = Buffer.alloc(64 * 1024)
  for (let written = 0; written < ENDLESS; written += block.length) {
    if (stream.write(block)) continue
    // A slow reader drains at once; a stopped one never does.
    const drained = await Promise.race([once(stream, 'drain').then(() => true), quiet(300)])
    if (!drained) return written
  }
  return ENDLESS
}

const quiet = (ms: number) => new Promise<false>((resolve) => void setTimeout(resolve, ms, false))

test('20 MB go up and down in a plain request, and the counts are right', async (t) => {
  const server = createHttpServer((incoming, response) => void pipeline(incoming, response))
  const port = await listenOn(t, server)
  const { path, listener } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const sent = request({ socketPath: path, path: `http://127.0.0.1:${port}/`, method: 'POST', agent: false })
  const received = once(sent, 'response').then(([answer]) => countBytes(answer as IncomingMessage))
  await pipeline(Readable.from(blocks(LARGE)), sent)
  assert.equal(await received, LARGE)
  for (const bytes of Object.values(listener.traffic)) {
    assert.ok(bytes > LARGE && bytes < LARGE * 1.01, `${bytes}`)
  }
})

test('20 MB go up and down in a tunnel, and each byte is counted once', async (t) => {
  const server = await startServer(t, echo)
  const { path, listener } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const authority = `127.0.0.1:${server.port}`
  const { socket } = await openTunnel(t, path, authority)
  const [received] = await Promise.all([countBytes(socket), pipeline(Readable.from(blocks(LARGE)), socket)])
  assert.equal(received, LARGE)
  const counts = {
    sent: LARGE + `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`.length,
    received: LARGE + 'HTTP/1.1 200 Connection Established\r\n\r\n'.length,
  }
  assert.deepEqual(listener.traffic, counts)
  await listener.close()
  assert.deepEqual(listener.traffic, counts)
})

test('a stopped reader stops its writer, up and down, in a tunnel and in a plain request', async (t) => {
  const before = process.memoryUsage().rss
  const sockets: Socket[] = []
  const outside = await startServer(t, (socket) => void sockets.push(socket))
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'] })

  const up = await openTunnel(t, path, `127.0.0.1:${outside.port}`)
  assert.ok((await writeUntilStopped(up.socket)) < MAX_ON_THE_WAY)

  await openTunnel(t, path, `127.0.0.1:${outside.port}`)
  assert.ok((await writeUntilStopped(sockets[1]!)) < MAX_ON_THE_WAY)

  const upload = await openSocket(t, path)
  upload.write(
    `POST http://127.0.0.1:${outside.port}/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${ENDLESS}\r\n\r\n`,
  )
  assert.ok((await writeUntilStopped(upload)) < MAX_ON_THE_WAY)

  const server = createHttpServer(
    (_incoming, response) => void writeUntilStopped(response).then(stopped.resolve),
  )
  const stopped = Promise.withResolvers<number>()
  const port = await listenOn(t, server)
  const download = await openSocket(t, path)
  download.pause()
  download.write(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n\r\n`)
  assert.ok((await stopped.promise) < MAX_ON_THE_WAY)

  // Tests, servers and proxy share this process, and its memory stays small.
  assert.ok(process.memoryUsage().rss - before < ENDLESS / 2)
})

test('of 600 tunnels 512 are opened, the rest are refused, and closed ones make room', async (t) => {
  const server = await startServer(t, echo)
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const authority = `127.0.0.1:${server.port}`
  const tunnels = await Promise.all(Array.from({ length: 600 }, () => openTunnel(t, path, authority)))
  const open = tunnels.filter(({ status }) => status === 200)
  const refused = tunnels.filter(({ status }) => status === 503)
  assert.deepEqual([open.length, refused.length], [512, 88])
  assert.ok(refused.every(({ body }) => codeOf(body) === 'egress_busy'))
  assert.equal((await ask(path, `http://${authority}/`)).status, 503)
  const { socket } = open[0]!
  socket.end()
  await once(socket.resume(), 'close')
  // Our end of the connection may close a moment before the other.
  let again = 503
  while (again === 503) again = (await openTunnel(t, path, authority)).status
  assert.equal(again, 200)
  assert.equal((await openTunnel(t, path, authority)).status, 503)
})

test('many requests on one connection are counted separately', async (t) => {
  const silent = await startServer(t, (socket) => socket.resume())
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'], limits: { connections: 3 } })
  const piled = await openSocket(t, path)
  const requests = Promise.withResolvers<void>()
  piled.write(`GET http://127.0.0.1:${silent.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(20), () =>
    requests.resolve(),
  )
  await requests.promise
  assert.equal((await ask(path, `http://127.0.0.1:${silent.port}/`)).status, 503)
  assert.ok(silent.connections() <= 3)
  piled.destroy()
  const server = createHttpServer((_incoming, response) => response.end())
  const port = await listenOn(t, server)
  let status = 503
  while (status === 503) status = (await ask(path, `http://127.0.0.1:${port}/`)).status
  assert.equal(status, 200)
})

test('drops connections beyond the room for refusals', async (t) => {
  const { path } = await startProxy(t, { limits: { connections: 0 } })
  const sockets = await Promise.all(Array.from({ length: 128 }, () => openSocket(t, path)))
  const dropped = await openSocket(t, path)
  await once(dropped.resume(), 'end')
  assert.ok(sockets.every((socket) => !socket.readableEnded))
})

test('disconnects a client that sends nothing or never ends its headers', async (t) => {
  const { path } = await startProxy(t, { limits: { headerMs: 50 } })
  const silent = await openSocket(t, path)
  const slow = await openSocket(t, path)
  slow.write('CONNECT a.example:443 HTTP/1.1\r\nHost: ')
  for (const socket of [silent, slow]) {
    assert.match(await readUntil(socket, '\r\n'), /^HTTP\/1\.1 408 /)
    await once(socket.resume(), 'end')
  }
})

test('refuses headers that are too large', async (t) => {
  const { path } = await startProxy(t, { limits: { headerBytes: 8_192 } })
  const socket = await openSocket(t, path)
  socket.write(`GET http://10.0.0.1/ HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(10_000)}\r\n\r\n`)
  assert.match(await readUntil(socket, '\r\n'), /^HTTP\/1\.1 431 /)
})
