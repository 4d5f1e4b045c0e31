// Calls to an agent: answers are limited, checked, and errors are classified.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { duplexPair } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { AgentClient, type Call } from './client.ts'
import { AgentError, AgentRefusal } from './errors.ts'
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
