import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  ask,
  codeOf,
  echo,
  openTunnel,
  startProxy,
  startServer,
} from '../../../../../tests/fixtures/egress.ts'
import { Lookups } from './lookups.ts'
import { EgressShares } from './shares.ts'

const UNBOUNDED = { connectionsPerProject: Number.POSITIVE_INFINITY, bytesPerSecond: 0 }

async function startInstance(t: TestContext, shares: EgressShares, projectId: string): Promise<string> {
  const { path, listener } = await startProxy(t, { allow: ['127.0.0.0/8'], shares })
  listener.setProject(projectId)
  return path
}

test('the connections of all instances of a project are bounded, and those of another are not affected', async (t) => {
  const { port } = await startServer(t, echo)
  const shares = new EgressShares({ ...UNBOUNDED, connectionsPerProject: 2 })
  const [one, two] = [await startInstance(t, shares, 'a'), await startInstance(t, shares, 'a')]
  const other = await startInstance(t, shares, 'b')
  const target = `127.0.0.1:${port}`
  const first = await openTunnel(t, one, target)
  await openTunnel(t, two, target)
  const refused = await ask(two, `http://${target}/`)
  assert.equal(refused.status, 503)
  assert.equal(codeOf(refused.body), 'egress_busy')
  assert.match(refused.body, /2 of the project are open already/)
  assert.equal((await openTunnel(t, other, target)).status, 200)
  first.socket.destroy()
  for (let count = 0; count < 200 && shares.connections.countOf('a') > 1; count++) await delay(20)
  assert.equal((await openTunnel(t, two, target)).status, 200)
})

test('names that never answer, in many sessions of a project, leave the look-ups of another alone', async () => {
  const shares = new EgressShares(UNBOUNDED)
  let running = 0
  let most = 0
  const newSession = (projectId: string) => {
    const share = shares.newShare()
    share.setProject(projectId)
    return new Lookups({
      lookup: (name) => {
        if (name === 'known.example') return Promise.resolve(['192.0.2.1'])
        most = Math.max(most, ++running)
        return new Promise(() => {})
      },
      timeoutMs: 60_000,
      maxAtOnce: 64,
      maxWaiting: 256,
      turn: (signal) => share.lookup(signal),
    })
  }
  const leaving = new AbortController()
  const asked = Array.from({ length: 20 }, () => newSession('a')).flatMap((session) =>
    Array.from({ length: 64 }, (_, index) => session.addressesOf(`never-${index}.example`, leaving.signal)),
  )
  assert.deepEqual(await newSession('b').addressesOf('known.example', leaving.signal), ['192.0.2.1'])
  assert.equal(most, 512)
  leaving.abort(new Error('gone'))
  await Promise.allSettled(asked)
})

test('a bound on bandwidth is shared by projects, not by connections', async (t) => {
  const block = Buffer.alloc(64 * 1024)
  const { port } = await startServer(t, (socket) => {
    const send = () => {
      while (socket.write(block)) continue
    }
    socket.on('drain', send)
    send()
  })
  const bytesPerSecond = 16 * 1024 * 1024
  const shares = new EgressShares({ ...UNBOUNDED, bytesPerSecond })
  const received = { a: 0, b: 0 }
  const read = async (projectId: 'a' | 'b', path: string): Promise<void> => {
    const { socket } = await openTunnel(t, path, `127.0.0.1:${port}`)
    socket.on('data', (chunk: Buffer) => (received[projectId] += chunk.length)).resume()
  }
  const [a, b] = [await startInstance(t, shares, 'a'), await startInstance(t, shares, 'b')]
  const startedAt = performance.now()
  for (let count = 0; count < 20; count++) await read('a', a)
  await read('b', b)
  const before = { ...received }
  for (let count = 0; count < 400 && received.b - before.b < bytesPerSecond / 4; count++) await delay(20)
  const [ofA, ofB] = [received.a - before.a, received.b - before.b]
  const seconds = (performance.now() - startedAt) / 1000
  const figures = `a ${ofA} bytes, b ${ofB} bytes, ${seconds.toFixed(1)} s`
  assert.ok(ofB >= bytesPerSecond / 4, figures)
  assert.ok(ofA < 3 * ofB, figures)
  assert.ok(received.a + received.b < bytesPerSecond * (seconds + 1), figures)
})
