// How many connections there are to a Pod: a server has hundreds of idle sessions.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { readFirstLine } from '@berth/kit/first-line'
import { newId } from '@berth/kit/ids'
import { AgentClient } from '../agent/client.ts'
import { renewLease } from '../agent/state.ts'
import { EgressPolicy } from '../egress/policy.ts'
import { EgressProxy } from '../egress/proxy.ts'
import { CLOSED } from '../egress/route.ts'
import { LinkHost } from '../pod/link-host.ts'
import { sharedPaths } from '../pod/protocol.ts'
import { KubernetesInstance } from './kubernetes-instance.ts'

const CALM_MS = 100
const PATIENCE_MS = 10_000
const state = {
  number: 7,
  browser: 'ready',
  devtools_path: null,
  browser_version: null,
  restarts: 0,
  failure: null,
  processes: 0,
}

test('an idle session keeps one connection to its Pod, which also renews its lease', async (t) => {
  const { instance, agent, open, purposes } = await startPod(t)
  instance.setProject('project')
  await eventually('only one is left', () => open.size === 1)
  const before = purposes.length
  const renewed = await renewLease(agent, 5, { signal: AbortSignal.timeout(PATIENCE_MS) })
  assert.equal(renewed.number, state.number)
  assert.equal(open.size, 1)
  assert.deepEqual(purposes.slice(before), ['api'], 'the link asks the agent')
})

test('a warm instance keeps one more, for the create that finds it', async (t) => {
  const { open } = await startPod(t)
  await eventually('two are open', () => open.size === 2)
  await pause(3 * CALM_MS)
  assert.equal(open.size, 2)
})

test('traffic opens connections for egress, and calm closes them', async (t) => {
  const { instance, open, egress } = await startPod(t)
  instance.setProject('project')
  for (let round = 0; round < 2; round++) {
    await eventually('only one is left', () => open.size === 1)
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(t, egress)))
    for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 [45]\d\d /)
  }
  await eventually('only one is left', () => open.size === 1)
})

test('a renewal that the agent refuses fails, and says why', async (t) => {
  const { agent } = await startPod(t, 500)
  const signal = AbortSignal.timeout(PATIENCE_MS)
  await assert.rejects(renewLease(agent, 5, { signal }), /Cannot renew the lease: The agent answers 500/)
})

/** The real link of a Pod, its agent, and the server's side of it. */
async function startPod(t: TestContext, status = 200) {
  const directory = mkdtempSync(join(tmpdir(), 'berth-pod-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const paths = sharedPaths(directory)
  const id = newId()
  const key = randomBytes(32)
  const link = new LinkHost({ paths, identity: id, key, leaseSeconds: 20, host: '127.0.0.1', port: 0 })
  const port = await link.listen()
  t.after(() => link.close())

  const purposes: string[] = []
  const api = createHttpServer((request, response) => {
    request.resume()
    response.writeHead(status).end(JSON.stringify(state))
  })
  const serve = async (socket: Socket) => {
    socket.on('error', () => {})
    t.after(() => socket.destroy())
    purposes.push(await readFirstLine(socket, 64))
    api.emit('connection', socket)
  }
  const agentServer = createServer((socket) => void serve(socket))
  agentServer.listen(paths.link)
  await once(agentServer, 'listening')
  t.after(() => agentServer.close())
  const life = connect(paths.life)
  life.on('error', () => {})
  life.resume()
  life.write('{"up":true}\n')
  t.after(() => life.destroy())

  const { port: counted, open } = await countConnections(t, port)
  const log = pino({ level: 'silent' })
  const instance = new KubernetesInstance({
    id,
    key,
    leaseSeconds: 20,
    limits: undefined,
    egress: new EgressProxy({ policy: new EgressPolicy({ allow: [] }), log }).open(CLOSED),
    remove: async () => {},
    onGone: () => {},
    log,
    calmMs: CALM_MS,
  })
  t.after(() => instance.destroy())
  instance.reach({ host: '127.0.0.1', port: counted }, 1)
  await instance.up
  return { instance, agent: new AgentClient(instance), open, purposes, egress: paths.egress }
}

/** Passes connections on to a port, and knows which are open. */
async function countConnections(t: TestContext, port: number) {
  const open = new Set<Socket>()
  const relay = createServer({ allowHalfOpen: true }, (from) => {
    const to = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    open.add(from)
    for (const socket of [from, to]) socket.on('error', () => {})
    from.once('close', () => {
      open.delete(from)
      to.destroy()
    })
    to.once('close', () => from.destroy())
    from.pipe(to).pipe(from)
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  t.after(() => {
    for (const socket of open) socket.destroy()
    relay.close()
  })
  return { port: (relay.address() as AddressInfo).port, open }
}

/** What egress answers to a program of the instance. */
async function ask(t: TestContext, path: string): Promise<string> {
  const socket = connect(path)
  t.after(() => socket.destroy())
  socket.write('CONNECT example.test:443 HTTP/1.1\r\nhost: example.test:443\r\n\r\n')
  const [piece] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return piece.toString()
}

async function eventually(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!isSo()) {
    assert.ok(performance.now() < deadline, `not in time: ${what}`)
    await pause(10)
  }
}
