import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Link, MAX_SPARES } from './link.ts'

const soon = () => AbortSignal.timeout(5_000)

async function open(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'berth-link-'))
  const path = join(directory, 'link.sock')
  const link = await Link.listen({ id: 'one', path })
  t.after(async () => {
    await link.close()
    rmSync(directory, { recursive: true })
  })
  const dial = async (): Promise<Socket> => {
    const socket = connect(path)
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  return { link, dial }
}

test('a connection sends its purpose first, then bytes in both directions', async (t) => {
  const { link, dial } = await open(t)
  const agent = await dial()
  const socket = await link.connect('cdp', soon())
  assert.equal(String((await once(agent, 'data'))[0]), 'cdp\n')
  agent.write('hello')
  assert.equal(String((await once(socket, 'data'))[0]), 'hello')
})

test('a waiting caller gets the next connection', async (t) => {
  const { link, dial } = await open(t)
  const waiting = link.connect('api', soon())
  const agent = await dial()
  await waiting
  assert.equal(String((await once(agent, 'data'))[0]), 'api\n')
})

test('a spare connection that closed or sent data early is not used', async (t) => {
  const { link, dial } = await open(t)
  const gone = await dial()
  const rude = await dial()
  gone.end()
  rude.write('me first')
  await Promise.all([once(gone.resume(), 'close'), once(rude.resume(), 'close')])
  const agent = await dial()
  await link.connect('bidi', soon())
  assert.equal(String((await once(agent, 'data'))[0]), 'bidi\n')
})

test('spare connections beyond the limit are dropped', async (t) => {
  const { link, dial } = await open(t)
  const dropped = Promise.withResolvers<void>()
  let closed = 0
  for (let index = 0; index < MAX_SPARES + 20; index++) {
    const socket = await dial()
    socket.resume().once('close', () => ++closed === 20 && dropped.resolve())
  }
  await dropped.promise
  for (let index = 0; index < MAX_SPARES; index++) await link.connect('api', soon())
  await assert.rejects(link.connect('api', AbortSignal.timeout(50)), { name: 'TimeoutError' })
})

test('close() ends open connections and rejects waiting callers', async (t) => {
  const { link, dial } = await open(t)
  const agent = await dial()
  await link.connect('api', soon())
  const waiting = assert.rejects(link.connect('api', soon()), /Cannot connect to instance "one"/)
  await Promise.all([link.close(), waiting, once(agent.resume(), 'close')])
  await assert.rejects(link.connect('api', soon()), /Cannot connect/)
})
