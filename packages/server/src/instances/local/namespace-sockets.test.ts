import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, readdirSync, readlinkSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { NamespaceSockets } from './namespace-sockets.ts'

const ECHO = `require('net').createServer((s) => s.pipe(s)).listen(+process.argv[1], '127.0.0.1', () => console.log('up'))`

/** The first process of its own namespaces, with an echo server, like an instance. */
async function startNamespace(t: TestContext, port: number): Promise<number> {
  const sandbox = ['--unshare-net', '--unshare-pid', '--die-with-parent', '--dev-bind', '/', '/']
  const child = spawn('bwrap', [...sandbox, process.execPath, '-e', ECHO, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  await once(child.stdout, 'data')
  return Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim())
}

/** A listener on the host's loopback that must never be reached; counts its connections. */
async function startCanary(t: TestContext): Promise<{ port: number; count: () => number }> {
  let count = 0
  const canary = createServer((socket) => {
    count++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(canary, 'listening')
  t.after(() => canary.close())
  return { port: (canary.address() as AddressInfo).port, count: () => count }
}

const openDescriptors = () => readdirSync('/proc/self/fd').length
const ownNamespace = () => readlinkSync('/proc/thread-self/ns/net')

test("a socket is created in the instance's namespace, and the server stays in its own", async (t) => {
  const canary = await startCanary(t)
  const first = await startNamespace(t, canary.port)
  const sockets = NamespaceSockets.open()!
  t.after(() => sockets.close())
  const before = ownNamespace()
  const namespace = sockets.find(() => [process.pid, first])!
  t.after(() => closeSync(namespace))
  const socket = sockets.connect(namespace, canary.port)!
  assert.equal(ownNamespace(), before)
  socket.write('ahoy')
  const [answer] = (await once(socket, 'data')) as [Buffer]
  assert.equal(answer.toString(), 'ahoy')
  socket.destroy()
  await once(socket, 'close')
  assert.equal(canary.count(), 0, 'the same port of the host was not touched')
})

test('returns no socket when nobody listens, and leaves nothing open', async (t) => {
  const canary = await startCanary(t)
  const other = await startCanary(t)
  const first = await startNamespace(t, other.port)
  const sockets = NamespaceSockets.open()!
  t.after(() => sockets.close())
  const namespace = sockets.find(() => [first])!
  t.after(() => closeSync(namespace))
  const before = openDescriptors()
  for (let round = 0; round < 20; round++) assert.equal(sockets.connect(namespace, canary.port), undefined)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(openDescriptors(), before)
  assert.equal(canary.count(), 0)
})

test('opens a namespace only from the first process of a running instance', async (t) => {
  const canary = await startCanary(t)
  const first = await startNamespace(t, canary.port)
  const sockets = NamespaceSockets.open()!
  t.after(() => sockets.close())
  const before = openDescriptors()
  assert.equal(
    sockets.find(() => []),
    undefined,
  )
  assert.equal(
    sockets.find(() => [process.pid, 1, 4_194_305]),
    undefined,
  )
  const lists = [[first], []]
  assert.equal(
    sockets.find(() => lists.shift()!),
    undefined,
    'it has left the group',
  )
  assert.equal(openDescriptors(), before)
})
