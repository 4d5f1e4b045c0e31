// Receivers that answer as an attacker would. Each costs the server a bounded time, and what is kept of it is small.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { MAX_ANSWER_BYTES, type WebhookTestResult } from '@berth/contracts/webhooks'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { startServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'
import {
  createWebhook,
  mayReachReceivers,
  readDelivery,
  WebhookReceiver,
} from '../fixtures/webhook-receiver.ts'

const owner = { after }
const server = await startServer(owner, { env: mayReachReceivers })

/** Speaks as it likes, once the head of a request has come. */
async function startRaw(speak: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const listener = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('data', () => speak(socket))
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  cleanUpAfter(owner, async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => void listener.close(resolve))
  })
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`
}

async function testOf(url: string): Promise<{ id: string; result: WebhookTestResult; ms: number }> {
  const { id } = await createWebhook(server, { url }, { event_types: ['pool.empty'] })
  const began = performance.now()
  const { status, body } = await send<WebhookTestResult>(server, 'POST', `/webhooks/${id}/test`)
  assert.equal(status, 200, body.message)
  return { id, result: body, ms: performance.now() - began }
}

/** Writes a piece again and again, as fast as it is taken or once in a while. */
function flood(socket: Socket, piece: string, everyMs = 0): void {
  const more = () => {
    if (socket.destroyed) return
    const isTaken = socket.write(piece)
    if (everyMs > 0) setTimeout(more, everyMs).unref()
    else if (isTaken) setImmediate(more)
    else socket.once('drain', more)
  }
  more()
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n'

test('an endless body counts as its status, and only its start is read and kept', async () => {
  const url = await startRaw((socket) => {
    socket.write(`${OK}\r\n`)
    flood(socket, 'x'.repeat(65_536))
  })
  const { id, result, ms } = await testOf(url)
  assert.equal(result.success, true)
  assert.equal(result.answer, 'x'.repeat(MAX_ANSWER_BYTES))
  assert.ok(ms < 5_000, `${ms}`)
  const { log } = await readDelivery(server, { id }, result.delivery_id)
  assert.equal(log[0]!.answer, 'x'.repeat(MAX_ANSWER_BYTES))
})

test('a body that comes drop by drop is not waited for', async () => {
  const url = await startRaw((socket) => {
    socket.write(`${OK}\r\n`)
    flood(socket, 'y', 200)
  })
  const { result, ms } = await testOf(url)
  assert.equal(result.success, true)
  assert.match(result.answer!, /^y+$/)
  assert.ok(ms < 8_000, `${ms}`)
})

test('headers that never end, in size or in time, are a failure', async () => {
  const large = await startRaw((socket) => {
    socket.write(OK)
    flood(socket, `X-Filler: ${'z'.repeat(1_000)}\r\n`)
  })
  const slow = await startRaw((socket) => {
    socket.write(OK)
    flood(socket, 'X-Drop: 1\r\n', 500)
  })
  const silent = await startRaw(() => {})
  const [many, late, nothing] = await Promise.all([testOf(large), testOf(slow), testOf(silent)])
  assert.match(many.result.error!, /connection to the receiver failed \(HPE_HEADER_OVERFLOW\)/)
  assert.ok(many.ms < 5_000, `${many.ms}`)
  for (const { result, ms } of [late, nothing]) {
    assert.equal(result.success, false)
    assert.equal(result.status, null)
    assert.equal(result.error, 'The receiver did not answer within 15 s')
    assert.ok(ms < 25_000, `${ms}`)
  }
})

test('a redirect is not followed, wherever it leads', async () => {
  const target = await WebhookReceiver.start(owner)
  const url = await startRaw((socket) =>
    socket.end(`HTTP/1.1 307 Temporary Redirect\r\nLocation: ${target.url}/\r\nContent-Length: 0\r\n\r\n`),
  )
  const { result } = await testOf(url)
  assert.equal(result.success, false)
  assert.match(result.error!, /redirect \(307\), which is not followed/)
  assert.equal(target.requests.length, 0)
})

test('what is no HTTP, breaks off, switches protocols or informs for ever is a failure', async () => {
  const answers: readonly ((socket: Socket) => void)[] = [
    (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
    (socket) => socket.destroy(),
    (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    (socket) => socket.end('HTTP/1.1 200'),
  ]
  for (const speak of answers) {
    const { result, ms } = await testOf(await startRaw(speak))
    assert.equal(result.success, false)
    assert.match(result.error!, /^The connection to the receiver failed( \([A-Z_]+\))?$/)
    assert.ok(ms < 10_000, `${ms}`)
  }
  const informing = await startRaw((socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n', 50))
  const { result } = await testOf(informing)
  assert.equal(result.error, 'The receiver did not answer within 15 s')
})

test('control characters of an answer are neither stored nor shown', async () => {
  const said = 'a\u0000b\u001b[31mc\u2028d\ud83d\ude00'
  const url = await startRaw((socket) => socket.end(`HTTP/1.1 400 Bad\r\nConnection: close\r\n\r\n${said}`))
  const { result } = await testOf(url)
  assert.equal(result.answer, 'ab[31mc\u2028d\ud83d\ude00')
})
