import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { LinkSocket } from './link-socket.ts'
import { Link } from './link.ts'

const soon = () => AbortSignal.timeout(5_000)

/** The agent's side has inherited the socket; here it is taken over within one process. */
async function open(t: TestContext): Promise<{ link: Link; path: string; agent: Server }> {
  const directory = mkdtempSync(join(tmpdir(), 'berth-link-'))
  const path = join(directory, 'link.sock')
  const agent = createServer()
  agent.listen(path)
  await once(agent, 'listening')
  const link = new Link({ id: 'one', path })
  t.after(() => {
    link.close()
    agent.close()
    rmSync(directory, { recursive: true })
  })
  return { link, path, agent }
}

const accepted = async (agent: Server) => (await once(agent, 'connection'))[0] as Socket

test('a connection sends its purpose first, then bytes in both directions', async (t) => {
  const { link, agent } = await open(t)
  const [socket, served] = await Promise.all([link.connect('cdp', soon()), accepted(agent)])
  assert.equal(String((await once(served, 'data'))[0]), 'cdp\n')
  served.write('hello')
  assert.equal(String((await once(socket, 'data'))[0]), 'hello')
})

test('close() ends open connections and refuses new ones', async (t) => {
  const { link, agent } = await open(t)
  const [, served] = await Promise.all([link.connect('api', soon()), accepted(agent)])
  const gone = once(served.resume(), 'close')
  link.close()
  await gone
  await assert.rejects(link.connect('api', soon()), /Cannot connect to instance "one"/)
})

test('an agent that is gone is an error, and a caller that gives up gets its own', async (t) => {
  const { link, path } = await open(t)
  rmSync(path)
  await assert.rejects(link.connect('api', soon()), /Cannot connect to instance "one"/)
  const enough = new Error('enough')
  await assert.rejects(link.connect('api', AbortSignal.abort(enough)), enough)
})

test('the socket stays where servers find it when the driver has handed it over', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'berth-link-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'link.sock')
  const socket = await LinkSocket.listen({ path, unfinished: `${path}.new` })
  assert.ok(socket.handOver((descriptor) => descriptor) > 2)
  assert.ok(existsSync(path))
  assert.ok(!existsSync(`${path}.new`))
})
