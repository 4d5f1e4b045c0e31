// The link and the agent of a Pod, as far as the connections to Chromium's debugging port go. Chromium is an echo.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { descriptorOf } from '@berth/kit/descriptor-of'
import { messageWith } from '@berth/kit/passed-descriptor'
import { DevtoolsSockets } from '@berth/server/instances/pod/devtools-sockets'
import { findNativeCalls } from '@berth/server/instances/local/programs'
import { NativeCalls } from '@berth/server/instances/pod/native-calls'
import { HandOver } from '../../packages/agent/src/devtools/hand-over.ts'
import { openLink, type LinkHandlers } from '../../packages/agent/src/link/link.ts'
import { loadNativeCalls } from '../../packages/agent/src/user/native-calls.ts'
import { eventually } from '../fixtures/host.ts'

const calls = NativeCalls.load()!
const agentCalls = loadNativeCalls(findNativeCalls()!)
const opened = () => readdirSync('/proc/self/fd').length

interface Place {
  readonly path: string
  readonly chromium: Server
  readonly port: number
  /** Connections that Chromium has. */
  readonly clients: Set<Socket>
  readonly sockets: DevtoolsSockets
  /** For a client that stays. */
  readonly client: Socket
}

async function startPlace(t: TestContext): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'berth-devtools-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const clients = new Set<Socket>()
  const chromium = createServer((socket) => {
    clients.add(socket)
    socket.on('error', () => {}).once('close', () => clients.delete(socket))
    socket.pipe(socket)
  })
  await listening(t, chromium, { port: 0, host: '127.0.0.1' })
  t.after(() => clients.forEach((socket) => socket.destroy()))
  const { port } = chromium.address() as AddressInfo
  const path = join(directory, 'link.sock')
  const sockets = new DevtoolsSockets({ link: path, calls })
  t.after(() => sockets.close())
  const client = connect(port, '127.0.0.1')
  await once(client, 'connect')
  t.after(() => client.destroy())
  client.setMaxListeners(0)
  return { path, chromium, port, clients, sockets, client }
}

async function listening(t: TestContext, server: Server, at: object): Promise<void> {
  server.listen(at)
  await once(server, 'listening')
  t.after(() => server.close())
}

const nobody = () => {}
const others = { api: nobody, cdp: nobody, bidi: nobody, playwright: nobody, screen: nobody }

function startAgent(
  t: TestContext,
  { path, port }: Place,
  options: Partial<ConstructorParameters<typeof HandOver>[0]> = {},
): void {
  const handOver = new HandOver({
    port,
    // SAFETY: nothing else is read of its state.
    chromium: { whenOpen: async () => ({ browser: 'ready' }) as never },
    calls: agentCalls,
    ...options,
  })
  serve(t, path, { take: handOver.take, give: handOver.give })
}

function serve(t: TestContext, path: string, handlers: Pick<LinkHandlers, 'take' | 'give'>): void {
  const connections = new Set<Socket>()
  const track = (handle: LinkHandlers['take']) => (connection: Socket, number: number) => {
    connections.add(connection)
    handle(connection, number)
  }
  const server = openLink({
    at: path,
    handlers: { ...others, take: track(handlers.take), give: track(handlers.give) },
  })
  t.after(() => {
    server.close()
    for (const connection of connections) connection.destroy()
  })
}

async function echo(socket: Socket, text: string): Promise<string> {
  socket.write(text)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  return answer.toString()
}

test('the link talks to Chromium itself, over a connection that the agent has opened', async (t) => {
  const place = await startPlace(t)
  startAgent(t, place)
  const before = opened()
  const many = await Promise.all(Array.from({ length: 20 }, () => place.sockets.open(place.client)))
  assert.equal(new Set(many.map((socket) => socket!.localPort)).size, 20)
  const answers = await Promise.all(many.map((socket, index) => echo(socket!, `message ${index}`)))
  assert.deepEqual(
    answers,
    many.map((_, index) => `message ${index}`),
  )
  // The agent keeps none of them, or the other side would not hear of the end.
  for (const socket of many) socket!.end()
  await eventually('Chromium hears the end', () => place.clients.size === 1)
  await eventually('all descriptors are closed', () => opened() === before)
})

test('the link hears when Chromium ends a connection', async (t) => {
  const place = await startPlace(t)
  startAgent(t, place)
  const socket = await place.sockets.open(place.client)
  assert.equal(await echo(socket!, 'x'), 'x')
  socket!.resume()
  for (const each of place.clients) if (each.remotePort === socket!.localPort) each.end()
  await once(socket!, 'end')
  socket!.destroy()
})

test('an agent that has no such system call passes the bytes on', async (t) => {
  const place = await startPlace(t)
  startAgent(t, place, { calls: undefined })
  assert.equal(await place.sockets.open(place.client), undefined)
})

test('no more than 64 wait for an agent at a time, and a client that leaves ends the wait', async (t) => {
  const place = await startPlace(t)
  const before = opened()
  startAgent(t, place, { chromium: { whenOpen: () => new Promise(() => {}) } })
  const waiting = Promise.allSettled(Array.from({ length: 64 }, () => place.sockets.open(place.client)))
  assert.equal(await place.sockets.open(place.client), undefined)
  place.client.destroy()
  const reasons = (await waiting).map((each) => each.status === 'rejected' && String(each.reason))
  assert.deepEqual([...new Set(reasons)], ['Error: The connection ended before its first line'])
  await eventually('all descriptors are closed', () => opened() <= before)
})

test('an agent that cannot reach Chromium ends the wait', async (t) => {
  const place = await startPlace(t)
  // SAFETY: nothing else is read of its state.
  startAgent(t, place, { chromium: { whenOpen: async () => ({ browser: 'failed' }) as never } })
  await assert.rejects(place.sockets.open(place.client), /ended before its first line/)
})

test('what a hostile agent gives instead is refused, and closed', async (t) => {
  const file = openSync('/dev/null', 'r')
  t.after(() => closeSync(file))
  const gifts: readonly (readonly [string, (taker: Socket, place: Place) => void, RegExp])[] = [
    ['nothing', () => {}, /gave no descriptor/],
    ['a byte alone', (taker) => void taker.write('!'), /gave no descriptor/],
    ['a file', (taker) => give(taker, file), /Unsupported fd type|INVALID_FD_TYPE/],
    ['a unix socket', (taker) => give(taker, descriptorOf(taker)!), /no connection to Chromium/],
    ['a server', (taker, { chromium }) => give(taker, descriptorOf(chromium)!), /no connection to Chromium/],
  ]
  for (const [what, act, why] of gifts) {
    await t.test(what, async (inner) => {
      const place = await startPlace(inner)
      let taker: Socket | undefined
      serve(inner, place.path, {
        take: (connection) => (taker = connection),
        give: (connection) => {
          act(taker!, place)
          connection.end('given\n')
        },
      })
      const before = opened()
      await assert.rejects(place.sockets.open(place.client), why)
      taker?.destroy()
      await eventually('all descriptors are closed', () => opened() <= before)
    })
  }
})

test('of several descriptors the link gets one', async (t) => {
  const place = await startPlace(t)
  let taker: Socket | undefined
  serve(t, place.path, {
    take: (connection) => (taker = connection),
    give: (connection) => {
      const message = messageWith(descriptorOf(place.client)!)
      message.control.writeBigUInt64LE(24n, 0)
      message.control.writeInt32LE(descriptorOf(place.client)!, 20)
      assert.equal(agentCalls.sendmsg(descriptorOf(taker!)!, message, 0), 1)
      connection.end('given\n')
    },
  })
  const before = opened()
  const socket = await place.sockets.open(place.client)
  taker!.destroy()
  await eventually('one more is open', () => opened() === before + 1)
  socket!.destroy()
})

function give(taker: Socket, descriptor: number): void {
  agentCalls.sendmsg(descriptorOf(taker)!, messageWith(descriptor), 0)
}

test('the kernel ends a link that hangs, also as the first process of its container', async () => {
  const script = `const { NativeCalls } = await import(${JSON.stringify(import.meta.resolve('@berth/server/instances/pod/native-calls'))})
    NativeCalls.load().endUnlessCalledWithin(1)
    for (;;);`
  const inside = [
    '--pid',
    '--fork',
    '--kill-child',
    process.execPath,
    '--input-type=module',
    '--eval',
    script,
  ]
  const isRoot = process.getuid!() === 0
  const program = isRoot ? 'unshare' : process.execPath
  const child = spawn(program, isRoot ? inside : inside.slice(4), { stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  assert.equal(code, 14)
})
