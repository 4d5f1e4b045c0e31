import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { dial } from './dial.ts'
import { startServer } from '../../../../../tests/fixtures/egress.ts'

const never = new AbortController().signal
const usual = { host: 'a.example', nextAfterMs: 60_000, timeoutMs: 60_000, signal: never }

/** An address that never answers: its listener's queue is full, so the kernel drops new connections. */
async function startSilent(t: TestContext, address: string, port: number): Promise<void> {
  const listener = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads')
     const server = require('node:net').createServer()
     server.listen({ ...workerData, backlog: 1 }, () => {
       parentPort.postMessage('listening')
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
     })`,
    { eval: true, workerData: { host: address, port } },
  )
  t.after(() => listener.terminate())
  await once(listener, 'message')
  for (let filled = 0; filled < 2; filled++) {
    const filler = connect({ host: address, port })
    filler.on('error', () => undefined)
    t.after(() => filler.destroy())
    await once(filler, 'connect')
  }
}

test('connects to the first address that answers', async (t) => {
  const server = await startServer(t, (socket) => socket.end('hello'))
  const socket = await dial({ ...usual, addresses: ['127.0.0.1', '127.0.0.2'], port: server.port })
  t.after(() => socket.destroy())
  assert.equal(socket.remoteAddress, '127.0.0.1')
  assert.equal(server.connections(), 1)
})

test('tries the next address at once when one refuses', async (t) => {
  const server = await startServer(t, (socket) => socket.end())
  const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.1']
  const socket = await dial({ ...usual, addresses, port: server.port })
  t.after(() => socket.destroy())
  assert.equal(socket.remoteAddress, '127.0.0.1')
})

test('when all refuse, the error has the last code but no address', async (t) => {
  const server = await startServer(t, (socket) => socket.end())
  const attempt = dial({ ...usual, addresses: ['127.0.0.2', '127.0.0.3'], port: server.port })
  await assert.rejects(attempt, {
    code: 'egress_failed',
    message: `Cannot connect to "a.example:${server.port}": ECONNREFUSED`,
  })
})

test('makes no connection when the signal has already fired', async (t) => {
  const server = await startServer(t, (socket) => socket.end())
  const signal = AbortSignal.abort(new Error('the client is gone'))
  await assert.rejects(
    dial({ ...usual, addresses: ['127.0.0.1'], port: server.port, signal }),
    /client is gone/,
  )
  assert.equal(server.connections(), 0)
})

test('tries the next address when one is slow, and times out when there is none', async (t) => {
  const server = await startServer(t, (socket) => socket.end())
  await startSilent(t, '127.0.0.2', server.port)
  const slow = { ...usual, port: server.port, nextAfterMs: 10 }
  const socket = await dial({ ...slow, addresses: ['127.0.0.2', '127.0.0.1'] })
  t.after(() => socket.destroy())
  assert.equal(socket.remoteAddress, '127.0.0.1')
  await assert.rejects(dial({ ...slow, addresses: ['127.0.0.2'], timeoutMs: 20 }), { code: 'egress_timeout' })
  const signal = AbortSignal.timeout(20)
  await assert.rejects(dial({ ...slow, addresses: ['127.0.0.2'], signal }), { name: 'TimeoutError' })
})
