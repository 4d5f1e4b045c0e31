// Calls to an agent: answers are limited, checked, and errors are classified.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { duplexPair, PassThrough } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { AgentClient, type Call } from './client.ts'
import { AgentError, AgentLate, AgentRefusal } from './errors.ts'
import { readState } from './state.ts'

const GET: Call = { purpose: 'work', method: 'GET', path: '/thing' }

type Answer = (request: IncomingMessage, response: ServerResponse) => void

function startAgent(t: TestContext, answer: Answer): AgentClient {
  const server = createServer(answer)
  const client = new AgentClient({
    connect: () => {
      const [ours, theirs] = duplexPair()
      server.emit('connection', theirs)
      return Promise.resolve(
        Object.assign(ours, { ref() {}, unref() {}, setKeepAlive() {}, setTimeout() {} }),
      )
    },
  })
  t.after(() => client.close())
  return client
}

const say =
  (status: number, body: string): Answer =>
  (_request, response) =>
    void response.writeHead(status).end(body)

test('call() sends JSON and returns the whole answer', async (t) => {
  const client = startAgent(t, (request, response) => {
    assert.equal(request.headers['content-type'], 'application/json')
    request.pipe(response)
  })
  const answer = await client.call({ ...GET, method: 'POST', json: { a: 1 } })
  assert.equal(answer.toString(), '{"a":1}')
})

test('call() refuses an answer that is too long', async (t) => {
  const client = startAgent(t, say(200, 'x'.repeat(101)))
  await assert.rejects(client.call({ ...GET, maxBytes: 100 }), /longer than 100 bytes/)
  assert.equal((await client.call({ ...GET, maxBytes: 101 })).length, 101)
})

test("call() distinguishes a refusal from a failure and keeps the agent's message", async (t) => {
  const status = { now: 409 }
  const client = startAgent(t, (request, response) =>
    say(status.now, '{"message":"is busy"}')(request, response),
  )
  await assert.rejects(client.call(GET), (error) => {
    assert.ok(error instanceof AgentRefusal)
    assert.deepEqual([error.status, error.message], [409, 'is busy'])
    return true
  })
  status.now = 500
  await assert.rejects(client.call(GET), (error) => {
    assert.ok(error instanceof AgentError && !(error instanceof AgentRefusal))
    assert.deepEqual([error.status, error.message], [500, 'is busy'])
    return true
  })
})

test('call() names the status and the path of an error without a message', async (t) => {
  const client = startAgent(t, say(418, '<html>'))
  await assert.rejects(client.call(GET), /^Error: The agent answered 418 to \/thing$/)
})

test('call() ends on its timeout, its signal, and when the client closes', async (t) => {
  const client = startAgent(t, () => {})
  await assert.rejects(client.call({ ...GET, timeoutMs: 30 }), /no answer within 0\.03 s/)
  const leaving = new AbortController()
  const left = client.call({ ...GET, signal: leaving.signal })
  leaving.abort(new Error('enough'))
  await assert.rejects(left, /enough/)
  const cut = client.call(GET)
  client.close()
  await assert.rejects(cut, AgentError)
})

test('endWork() does not affect management calls', async (t) => {
  const client = startAgent(
    t,
    (request, response) => void setTimeout(() => say(200, '{}')(request, response), 50),
  )
  const work = client.call(GET)
  const management = client.call({ ...GET, purpose: 'management' })
  await new Promise((resolve) => setImmediate(resolve))
  client.endWork()
  await assert.rejects(work, AgentError)
  assert.equal((await management).toString(), '{}')
})

test('readState() refuses a malformed state and keeps a valid one', async (t) => {
  const state = {
    number: 1,
    browser: 'ready',
    devtools_path: '/devtools/browser/1',
    browser_version: null,
    restarts: 0,
    failure: null,
    processes: 2,
  }
  const answers = [{ ...state, processes: 'two' }, state]
  const client = startAgent(t, (request, response) =>
    say(200, JSON.stringify(answers.shift()))(request, response),
  )
  await assert.rejects(readState(client), /malformed answer to \/state/)
  assert.equal(client.lastState.value, undefined)
  assert.deepEqual(await readState(client), state)
  const heard: number[] = []
  client.lastState.followProcesses((running) => heard.push(running))
  client.lastState.hearOfProcesses(3)
  assert.deepEqual(heard, [2, 3])
})

const FORWARDED = {
  method: 'POST',
  path: '/control/thing',
  headers: {},
  signal: new AbortController().signal,
}

test('a request that is passed on fails when no answer begins in time', async (t) => {
  const client = startAgent(t, () => {})
  const request = { ...FORWARDED, body: '{}', answerWithinMs: 20 }
  await assert.rejects(client.forward(request), (error) => {
    assert.ok(error instanceof AgentLate)
    assert.match(error.message, /\/control\/thing: no answer within 0.02 s/)
    return true
  })
})

test('a request that waits for a connection fails in time, too', async (t) => {
  const client = new AgentClient({
    connect: (_service, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      ),
  })
  t.after(() => client.close())
  await assert.rejects(client.forward({ ...FORWARDED, body: undefined, answerWithinMs: 20 }), AgentLate)
})

test('the deadline of an answer begins after the last byte of the request', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const client = startAgent(t, (request, response) => void request.pipe(response))
  const body = new PassThrough()
  const answered = client.forward({ ...FORWARDED, body, answerWithinMs: 1000 })
  for (const piece of ['a', 'b', 'c']) {
    const passed = once(body, 'data')
    body.write(piece)
    await passed
    t.mock.timers.tick(600)
  }
  body.end()
  assert.equal((await answered).statusCode, 200)
})

test('the deadline does not apply to the rest of an answer', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const held: ServerResponse[] = []
  const client = startAgent(t, (_request, response) => {
    response.flushHeaders()
    held.push(response)
  })
  const body = new PassThrough()
  const answer = await client.forward({ ...FORWARDED, body, answerWithinMs: 1000 })
  const passed = once(body, 'data')
  body.end('the rest of the request')
  await passed
  t.mock.timers.tick(5000)
  held[0]!.end('whole')
  assert.equal(Buffer.concat(await answer.toArray()).toString(), 'whole')
})
