import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server } from 'node:http'
import { connect, createServer as createSocketServer, type AddressInfo } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { AgentClient } from './client.ts'

const MB = 1024 * 1024
const MEGABYTES = 64

/** The answer of an agent that pauses while it reads the body. */
async function digestOf(body: IncomingMessage): Promise<string> {
  const digest = createHash('sha256')
  let bytes = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    digest.update(piece)
    if (bytes % (8 * MB) > (bytes + piece.length) % (8 * MB)) await delay(5)
    bytes += piece.length
  }
  return digest.digest('hex')
}

function agentServer(t: TestContext): Server {
  const agent = createServer((given, response) => void digestOf(given).then((hex) => response.end(hex)))
  t.after(() => agent.closeAllConnections())
  return agent
}

const links: Record<string, (t: TestContext, agent: Server) => Promise<() => Promise<Duplex>>> = {
  'a socket': async (t, agent) => {
    const listener = createSocketServer((socket) => agent.emit('connection', socket)).listen(0)
    await once(listener, 'listening')
    t.after(() => listener.close())
    return () => Promise.resolve(connect((listener.address() as AddressInfo).port))
  },
  'a pair of streams': (_t, agent) =>
    Promise.resolve(() => {
      const [ours, theirs] = duplexPair()
      agent.emit('connection', theirs)
      return Promise.resolve(
        Object.assign(ours, { ref() {}, unref() {}, setKeepAlive() {}, setTimeout() {} }),
      )
    }),
}

for (const [name, open] of Object.entries(links)) {
  for (const isChunked of [false, true]) {
    test(
      `a ${isChunked ? 'chunked ' : ''}body passes ${name} whole, whatever the pace of its reader`,
      { timeout: 30_000 },
      async (t) => {
        const client = new AgentClient({ connect: await open(t, agentServer(t)) })
        t.after(() => client.close())
        const front = createServer((given, response) => {
          const { 'content-length': length } = given.headers
          const headers = length === undefined ? {} : { 'content-length': length }
          const { signal } = new AbortController()
          void client
            .forward({ method: 'PUT', path: '/', headers, body: given, signal, answerWithinMs: 60_000 })
            .then((answer) => answer.pipe(response))
        }).listen(0)
        await once(front, 'listening')
        t.after(() => front.closeAllConnections())
        t.after(() => front.close())

        const piece = randomBytes(MB)
        const sent = request({ port: (front.address() as AddressInfo).port, method: 'PUT' })
        if (!isChunked) sent.setHeader('content-length', MEGABYTES * MB)
        const expected = createHash('sha256')
        for (let count = 0; count < MEGABYTES; count++) {
          expected.update(piece)
          if (!sent.write(piece)) await once(sent, 'drain')
        }
        sent.end()
        const [answer] = (await once(sent, 'response')) as [IncomingMessage]
        assert.equal((await answer.setEncoding('utf8').toArray()).join(''), expected.digest('hex'))
      },
    )
  }
}
