import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { RawData, WebSocket } from 'ws'
import type { EndReason } from '@berth/contracts/browsers'
import {
  closeOf,
  openClient,
  startBrowser,
  startGateway,
  startRawBrowser,
  until,
  type TestGateway,
} from '../../../../../tests/fixtures/gateway.ts'
import type { GatewayLimits } from './gateway.ts'
import { acceptOf } from '../../instances/devtools/websocket-handshake.ts'

const MB = 1024 * 1024
const quick = { connectMs: 2_000, graceMs: 300 }

function echo(client: WebSocket): void {
  client.on('message', (data, isBinary) => client.send(data, { binary: isBinary }))
}

async function nextMessage(client: WebSocket): Promise<Buffer> {
  const [data] = (await once(client, 'message')) as [RawData]
  return data as Buffer
}

/** A browser that opens the websocket and then sends and receives raw bytes. */
async function startFrames(
  t: TestContext,
  limits: Partial<GatewayLimits> = {},
  afterHead = Buffer.alloc(0),
): Promise<TestGateway & { browser: () => Promise<Socket>; heard: () => Buffer }> {
  const waiting = Promise.withResolvers<Socket>()
  let heard = Buffer.alloc(0)
  const port = await startRawBrowser(t, (socket) => {
    socket.once('data', (head) => {
      const key = /Sec-WebSocket-Key: (\S+)/.exec(head.toString())![1]!
      const answer =
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${acceptOf(key)}\r\n\r\n`
      socket.write(Buffer.concat([Buffer.from(answer), afterHead]))
      socket.on('data', (chunk) => (heard = Buffer.concat([heard, chunk])))
      waiting.resolve(socket)
    })
  })
  const gateway = await startGateway(t, port, { ...quick, ...limits })
  return { ...gateway, browser: () => waiting.promise, heard: () => heard }
}

/** A client of raw bytes, for behaviour that no library has. */
async function openRaw(t: TestContext, { port, url }: TestGateway, early = Buffer.alloc(0)): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  const { pathname, search } = new URL(url)
  socket.write(
    `GET ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
  )
  socket.write(early)
  const [head] = (await once(socket, 'data')) as [Buffer]
  assert.match(head.toString('latin1'), /^HTTP\/1\.1 101 .*\r\n\r\n/s)
  const rest = head.subarray(head.indexOf('\r\n\r\n') + 4)
  socket.pause()
  if (rest.length > 0) socket.unshift(rest)
  return socket
}

/** The gateway's side of connections that are opened from now on. */
function serverEnds(server: TestGateway['server']): Socket[] {
  const ends: Socket[] = []
  server.on('connection', (socket: Socket) => ends.push(socket))
  return ends
}

function collect(socket: Socket): { length: () => number; all: Promise<Buffer> } {
  let got = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => (got = Buffer.concat([got, chunk])))
  socket.resume()
  const all = new Promise<Buffer>((resolve) => socket.once('close', () => resolve(got)))
  return { length: () => got.length, all }
}

test('messages of all sizes and kinds come through in order', async (t) => {
  const { url, session, gateway } = await startGateway(t, await startBrowser(t, echo), quick)
  const client = await openClient(t, url)
  const sent = [0, 1, 125, 126, 127, 65_535, 65_536, 300_000, 3].map((length) => randomBytes(length))
  const got: Buffer[] = []
  client.on('message', (data: Buffer) => got.push(data))
  for (const message of sent) client.send(message)
  await until(() => got.length === sent.length)
  assert.deepEqual(got, sent)
  client.send('{"id":1}')
  assert.equal((await nextMessage(client)).toString(), '{"id":1}')
  assert.equal(session.holds, 1)
  assert.equal(gateway.connectionCount, 1)
})

test('fragments come through as fragments, with pings of the client answered in between', async (t) => {
  const { url } = await startGateway(t, await startBrowser(t, echo), quick)
  const client = await openClient(t, url)
  const pongs: string[] = []
  client.on('pong', (data) => pongs.push(data.toString()))
  const parts = [randomBytes(70_000), randomBytes(10), randomBytes(0), randomBytes(200)]
  for (const [index, part] of parts.entries()) {
    client.send(part, { fin: index === parts.length - 1 })
    if (index < parts.length - 1) client.ping(`ping ${index}`)
  }
  assert.deepEqual(await nextMessage(client), Buffer.concat(parts))
  await until(() => pongs.at(-1) === 'ping 2')
})

test('pings of the client do not reach the browser, and it need not answer them', async (t) => {
  const { url, heard, ...gateway } = await startFrames(t)
  const client = await openClient(t, url)
  client.ping('are you there')
  const [pong] = (await once(client, 'pong')) as [Buffer]
  assert.equal(pong.toString(), 'are you there')
  client.pong('nobody asked')
  client.send('x')
  await until(() => heard().length > 0)
  assert.equal(heard()[0], 0x81)
  assert.equal(heard().length, 7)
  assert.equal(gateway.session.connects, 1)
})

test('frames that arrive in single bytes are relayed', async (t) => {
  const { heard, browser, ...gateway } = await startFrames(t)
  const client = await openRaw(t, gateway)
  const upstream = await browser()
  const mask = [1, 2, 3, 4]
  const ping = [0x89, 0x82, ...mask, 'h'.charCodeAt(0) ^ 1, 'i'.charCodeAt(0) ^ 2]
  const text = [0x81, 0x81, ...mask, 'x'.charCodeAt(0) ^ 1]
  const chunks: Buffer[] = []
  client.on('data', (chunk: Buffer) => chunks.push(chunk))
  client.resume()
  for (const byte of [...ping, ...text, ...ping, ...text]) {
    client.write(Buffer.from([byte]))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until(() => heard().length === 2 * text.length)
  assert.deepEqual([...heard()], [...text, ...text])
  await until(() => Buffer.concat(chunks).length === 8)
  assert.equal(Buffer.concat(chunks).toString('hex'), '8a0268698a026869')
  // In the middle of a frame of the browser the answer waits for its end.
  upstream.write(Buffer.from([0x82, 126]))
  await until(() => Buffer.concat(chunks).length === 10)
  client.write(Buffer.from(ping))
  client.write(Buffer.from(text))
  await until(() => heard().length === 3 * text.length)
  upstream.write(Buffer.concat([Buffer.from([0, 200]), Buffer.alloc(200, 5), Buffer.from([0x82, 0])]))
  await until(() => Buffer.concat(chunks).length === 8 + 204 + 4 + 2)
  const last = Buffer.concat(chunks).subarray(8 + 204)
  assert.deepEqual([...last], [0x8a, 2, 0x68, 0x69, 0x82, 0])
})

test('bytes that come with the handshake on either side are not lost', async (t) => {
  const { heard, ...gateway } = await startFrames(t, {}, Buffer.from([0x81, 2, 0x68, 0x69]))
  const early = Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x78])
  const client = await openRaw(t, gateway, early)
  const chunks: Buffer[] = []
  client.on('data', (chunk: Buffer) => chunks.push(chunk))
  client.resume()
  await until(() => heard().length === 7 && Buffer.concat(chunks).length === 4)
  assert.equal(Buffer.concat(chunks).toString('hex'), '81026869')
})

test('a message of 100 MB passes both ways unchanged', async (t) => {
  const { url, session } = await startGateway(t, await startBrowser(t, echo), quick)
  const client = await openClient(t, url)
  const big = Buffer.alloc(100 * MB, randomBytes(1021))
  client.send(big)
  const got = await nextMessage(client)
  assert.equal(Buffer.compare(got, big), 0)
  assert.equal(session.holds, 1)
})

test('a reader that stops holds up the browser and not our memory', async (t) => {
  const { browser, ...gateway } = await startFrames(t)
  const ends = serverEnds(gateway.server)
  const client = await openRaw(t, gateway)
  const upstream = await browser()
  const header = Buffer.from([0x82, 127, 0, 0, 0, 0, 0x03, 0x20, 0, 0])
  assert.equal(header.readUInt32BE(6), 50 * MB)
  const block = Buffer.alloc(MB, 9)
  let taken = 0
  const pour = async () => {
    upstream.write(header)
    for (let sent = 0; sent < 50; sent++) {
      if (!upstream.write(block)) await once(upstream, 'drain')
      taken++
    }
  }
  const pouring = pour()
  let steady = -1
  while (steady !== taken) {
    steady = taken
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  assert.ok(taken < 40, `the browser was not held up: ${taken} MB`)
  const inGateway = [...gateway.session.streams].map((stream) => stream.readableLength)
  assert.ok(Math.max(...inGateway) <= 128 * 1024, inGateway.join())
  assert.ok(ends[0]!.writableLength <= 256 * 1024, `${ends[0]!.writableLength}`)
  let length = 0
  client.on('data', (chunk: Buffer) => {
    length += chunk.length
    client.pause()
    setImmediate(() => client.resume())
  })
  client.resume()
  await pouring
  await until(() => length === 50 * MB + header.length)
})

test('a browser that stops reading holds up the client', async (t) => {
  const { browser, ...gateway } = await startFrames(t, { pingMs: 10, silentMs: 50, sweepMs: 10 })
  const client = await openRaw(t, gateway)
  const upstream = await browser()
  upstream.pause()
  client.resume()
  client.write(Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x10, 0, 0, 0, 1, 2, 3, 4]))
  const block = Buffer.alloc(MB)
  let taken = 0
  const pour = async () => {
    while (!client.destroyed) {
      if (!client.write(block)) await Promise.race([once(client, 'drain'), once(client, 'close')])
      taken++
    }
  }
  const pouring = pour()
  let steady = -1
  while (steady !== taken) {
    steady = taken
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  assert.ok(taken < 40, `the client was not held up: ${taken} MB`)
  for (const stream of gateway.session.streams) assert.ok(stream.writableLength <= 128 * 1024)
  assert.equal(gateway.gateway.connectionCount, 1, 'it is not taken for dead')
  client.destroy()
  await pouring
})

test('pings come between the frames of a large fragmented message', async (t) => {
  const { browser, ...gateway } = await startFrames(t, { pingMs: 20, sweepMs: 5 })
  const client = await openClient(t, gateway.url)
  let pings = 0
  client.on('ping', () => pings++)
  const message = nextMessage(client)
  const upstream = await browser()
  const body = Buffer.alloc(300_000, 7)
  const length = [127, 0, 0, 0, 0, 0, 4, 0x93, 0xe0]
  for (let index = 0; index < 6; index++) {
    // Half of a frame, a pause in which a ping becomes due, and the rest of it.
    const first = index === 0 ? 0x02 : index === 5 ? 0x80 : 0x00
    const frame = Buffer.concat([Buffer.from([first, ...length]), body])
    const before = pings
    upstream.write(frame.subarray(0, 150_000))
    await new Promise((resolve) => setTimeout(resolve, 60))
    assert.ok(pings <= before + 1, 'none in the middle of a frame')
    upstream.write(frame.subarray(150_000))
    await until(() => pings > before)
  }
  assert.deepEqual(await message, Buffer.alloc(6 * body.length, 7))
  assert.ok(pings >= 6)
})

test('a client that answers pings stays, and one that does not is disconnected', async (t) => {
  const limits = { pingMs: 20, silentMs: 200, sweepMs: 10 }
  const { gateway, session, ...rest } = await startFrames(t, limits)
  const alive = await openClient(t, rest.url)
  let pings = 0
  alive.on('ping', () => pings++)
  await until(() => pings > 15)
  assert.equal(gateway.connectionCount, 1)
  const dead = await openRaw(t, { gateway, session, ...rest })
  assert.equal(gateway.connectionCount, 2)
  dead.resume()
  await new Promise((resolve) => dead.once('close', resolve))
  await until(() => session.holds === 1)
  assert.equal(alive.readyState, 1)
})

test('a client that reads no bytes is disconnected', async (t) => {
  const { browser, session, ...rest } = await startFrames(t, { pingMs: 1_000, silentMs: 200, sweepMs: 20 })
  await openRaw(t, { session, ...rest })
  const upstream = await browser()
  upstream.write(Buffer.from([0x82, 127, 0, 0, 0, 0, 0x10, 0, 0, 0]))
  upstream.write(Buffer.alloc(60 * MB))
  await until(() => session.holds === 0)
  await until(() => session.streams.size === 0)
})

test('clients get a code and a reason when the session ends', async (t) => {
  const rows: [EndReason, number, string][] = [
    ['deleted', 4000, 'session deleted'],
    ['timed_out', 4001, 'session timed out'],
    ['crashed', 4002, 'session crashed'],
    ['out_of_memory', 4003, 'session out of memory'],
    ['lost', 4005, 'session lost'],
    ['released', 4007, 'session released'],
    ['server_stopped', 1001, 'server stopping'],
  ]
  const port = await startBrowser(t, echo)
  for (const [reason, code, text] of rows) {
    const { url, session, gateway } = await startGateway(t, port, quick)
    const clients = await Promise.all([1, 2, 3].map(() => openClient(t, url)))
    const closes = clients.map(closeOf)
    session.end(reason)
    assert.deepEqual(
      await Promise.all(closes),
      clients.map(() => ({ code, reason: text })),
    )
    await until(() => session.holds === 0 && session.streams.size === 0)
    assert.equal(gateway.connectionCount, 0)
  }
})

test('clients of a crashed session get the crash code although the connection breaks first', async (t) => {
  const { browser, session, url } = await startFrames(t)
  const client = await openClient(t, url)
  const close = closeOf(client)
  ;(await browser()).resetAndDestroy()
  await until(() => session.streams.size === 0)
  session.end('crashed')
  assert.deepEqual(await close, { code: 4002, reason: 'session crashed' })
})

test('a browser that leaves a living session closes the connection properly', async (t) => {
  const { browser, session, url } = await startFrames(t)
  const client = await openClient(t, url)
  const close = closeOf(client)
  ;(await browser()).end()
  assert.deepEqual(await close, { code: 1001, reason: 'browser closed the connection' })
  await until(() => session.holds === 0)
})

test('the close frame waits for the end of a frame, and is never sent inside an endless one', async (t) => {
  const finished = await startFrames(t)
  const first = await openRaw(t, finished)
  const upstream = await finished.browser()
  upstream.write(Buffer.from([0x82, 4, 1, 2]))
  const reading = collect(first)
  await until(() => reading.length() === 4)
  finished.session.end('deleted')
  // The close frame comes after the frame and nothing comes after the close frame.
  setTimeout(() => upstream.write(Buffer.from([3, 4, 0x82, 1, 9])), 50)
  const close = Buffer.concat([Buffer.from([0x88, 17, 0x0f, 0xa0]), Buffer.from('session deleted')])
  assert.deepEqual(await reading.all, Buffer.concat([Buffer.from([0x82, 4, 1, 2, 3, 4]), close]))

  for (const isCut of [true, false]) {
    const unfinished = await startFrames(t)
    const second = await openRaw(t, unfinished)
    const half = await unfinished.browser()
    half.write(Buffer.from([0x82, 4, 1, 2]))
    const got = collect(second)
    await until(() => got.length() === 4)
    unfinished.session.end('deleted')
    if (isCut) half.destroy()
    assert.deepEqual([...(await got.all)], [0x82, 4, 1, 2])
    await until(() => unfinished.session.holds === 0)
  }
})

test('close codes pass from either side', async (t) => {
  const closes: [number, string][] = []
  const port = await startBrowser(t, (client) => {
    client.on('close', (code, reason) => closes.push([code, reason.toString()]))
    client.on('message', () => client.close(3001, 'enough'))
  })
  const { url, session } = await startGateway(t, port, quick)
  const leaving = await openClient(t, url)
  leaving.close(4321, 'bye')
  assert.deepEqual(await closeOf(leaving), { code: 4321, reason: 'bye' })
  await until(() => closes.length === 1)
  assert.deepEqual(closes, [[4321, 'bye']])
  const left = await openClient(t, url)
  const close = closeOf(left)
  left.send('x')
  assert.deepEqual(await close, { code: 3001, reason: 'enough' })
  await until(() => session.holds === 0)
})

test('a close of the client is answered even if the browser does not', async (t) => {
  const { url, session } = await startFrames(t, { graceMs: 50 })
  const client = await openClient(t, url)
  client.close(1000)
  assert.equal((await closeOf(client)).code, 1000)
  await until(() => session.holds === 0 && session.streams.size === 0)
})

test('a client that disconnects releases the session and ends only its own connection', async (t) => {
  const { url, session, gateway } = await startGateway(t, await startBrowser(t, echo), quick)
  const [leaving, staying] = [await openClient(t, url), await openClient(t, url)]
  assert.equal(session.holds, 2)
  leaving.terminate()
  await until(() => session.holds === 1 && session.streams.size === 1)
  staying.send('still here')
  assert.equal((await nextMessage(staying)).toString(), 'still here')
  assert.equal(gateway.connectionCount, 1)
})

test('bytes that a client sent before it left still arrive', async (t) => {
  const { heard, ...gateway } = await startFrames(t)
  const client = await openRaw(t, gateway)
  const frame = Buffer.concat([Buffer.from([0x82, 0xfe, 0xff, 0xff, 0, 0, 0, 0]), Buffer.alloc(65_535, 3)])
  client.end(frame)
  await until(() => heard().length === frame.length)
})

test('a client that sends malformed frames gets a close code', async (t) => {
  for (const garbage of [
    'GET / HTTP/1.1\r\n\r\n',
    Buffer.from([0x81, 1, 0x78]),
    Buffer.alloc(100_000, 0xff),
  ]) {
    const { session, heard, ...gateway } = await startFrames(t)
    const client = await openRaw(t, { session, ...gateway })
    client.write(garbage)
    const got = await collect(client).all
    assert.deepEqual([...got.subarray(0, 4)], [0x88, got.length - 2, 0x03, 0xea])
    await until(() => session.holds === 0)
    assert.equal(heard().length, 0)
  }
})

test('a browser that sends malformed frames is cut off', async (t) => {
  for (const garbage of [Buffer.alloc(MB, 0xff), Buffer.from([0x81, 0x81, 1, 2, 3, 4, 5])]) {
    const { session, browser, ...gateway } = await startFrames(t)
    const client = await openClient(t, gateway.url)
    client.on('error', () => {})
    const closed = new Promise((resolve) => client.once('close', resolve))
    ;(await browser()).write(garbage)
    assert.equal(await closed, 1006)
    await until(() => session.holds === 0 && session.streams.size === 0)
  }
})

test('a flood of pings from a client that does not read is not buffered', async (t) => {
  const { session, ...gateway } = await startFrames(t)
  const ends = serverEnds(gateway.server)
  const client = await openRaw(t, { session, ...gateway })
  const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125, 7)])
  const pings = Buffer.concat(Array<Buffer>(8_000).fill(ping))
  for (let count = 0; count < 30; count++) {
    if (!client.write(pings)) await once(client, 'drain')
  }
  assert.ok(ends[0]!.writableNeedDrain, 'it was held up')
  assert.ok(ends[0]!.writableLength <= 128 * 1024, `${ends[0]!.writableLength}`)
  client.destroy()
  await until(() => session.holds === 0)
})

test('a closing gateway tells all clients, refuses new ones, and waits', async (t) => {
  const { url, gateway, session } = await startGateway(t, await startBrowser(t, echo), quick)
  const clients = await Promise.all([1, 2, 3].map(() => openClient(t, url)))
  const stubborn = await openRaw(t, { url, gateway, session, port: Number(new URL(url).port) } as TestGateway)
  const closes = Promise.all(clients.map(closeOf))
  const closing = gateway.close('server stopping')
  assert.equal(gateway.close('again'), closing)
  await assert.rejects(openClient(t, url), /503/)
  await closing
  const told = { code: 1001, reason: 'server stopping' }
  assert.deepEqual(await closes, [told, told, told])
  assert.equal(gateway.connectionCount, 0)
  assert.equal(session.holds, 0)
  stubborn.destroy()
})

test('an idle connection costs little memory', async (t) => {
  const COUNT = 200
  const { url, gateway } = await startFrames(t, { connectionsPerSession: COUNT })
  const sockets: Socket[] = []
  const before = process.memoryUsage()
  for (let count = 0; count < COUNT; count++) {
    sockets.push(await openRaw(t, { url, gateway, port: Number(new URL(url).port) } as TestGateway))
  }
  assert.equal(gateway.connectionCount, COUNT)
  const after = process.memoryUsage()
  const perConnection = (name: 'rss' | 'heapUsed') => Math.round((after[name] - before[name]) / COUNT / 1024)
  // Both ends of both connections are in this process.
  t.diagnostic(`${perConnection('rss')} KB resident, ${perConnection('heapUsed')} KB heap a connection`)
})
