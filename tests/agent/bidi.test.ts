// WebDriver BiDi through the agent.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { eventually } from '../fixtures/host.ts'
import { AgentUnderTest, HEADLESS } from '../fixtures/agent/agent-under-test.ts'

interface Answer {
  id: number | null
  type: string
  method?: string
  params?: Record<string, unknown>
  error?: string
  result?: Record<string, unknown>
  'goog:channel'?: string
}

async function openBidi(agent: AgentUnderTest) {
  const link = await agent.connect('bidi')
  const socket = new WebSocket('ws://agent/session', { createConnection: () => link })
  const answers: Answer[] = []
  /** Everything that came, in its order. */
  const received: { text: string; message: Answer }[] = []
  let wake: (() => void) | undefined
  socket.on('message', (data: Buffer) => {
    const text = data.toString()
    const message = JSON.parse(text) as Answer
    received.push({ text, message })
    answers.push(message)
    wake?.()
  })
  await once(socket, 'open')
  let lastId = 0
  const send = async (text: string, id: number | null): Promise<Answer> => {
    socket.send(text)
    for (;;) {
      const index = answers.findIndex((answer) => answer.id === id)
      if (index !== -1) return answers.splice(index, 1)[0]!
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  const call = async (method: string, params: object = {}, rest: object = {}) => {
    const id = ++lastId
    return send(JSON.stringify({ id, method, params, ...rest }), id)
  }
  return { socket, call, send, received }
}

async function openSession(agent: AgentUnderTest) {
  const client = await openBidi(agent)
  await client.call('session.new', { capabilities: {} })
  const tree = (await client.call('browsingContext.getTree')).result as { contexts: { context: string }[] }
  return { ...client, context: tree.contexts[0]!.context }
}

test('a BiDi client creates a session, drives a page and ends the session', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  const { socket, call, send } = await openBidi(agent)
  assert.equal((await send('nonsense', null)).error, 'invalid argument')
  assert.equal((await call('browsingContext.getTree')).error, 'invalid session id')
  assert.equal((await call('session.status')).result?.['ready'], true)
  const made = await call('session.new', { capabilities: {} })
  assert.equal(made.type, 'success', JSON.stringify(made))
  assert.match(String(made.result?.['sessionId']), /^[0-9a-f-]{36}$/)
  const { capabilities } = made.result as { capabilities: Record<string, unknown> }
  assert.equal(capabilities['browserName'], 'chrome')
  assert.match(String(capabilities['browserVersion']), /^\d+(\.\d+){3}$/)
  assert.equal(capabilities['platformName'], 'linux')
  const tree = (await call('browsingContext.getTree')).result as { contexts: { context: string }[] }
  const target = { context: tree.contexts[0]!.context }
  const evaluated = await call('script.evaluate', { expression: '1 + 1', target, awaitPromise: true })
  assert.deepEqual((evaluated.result as { result: object }).result, { type: 'number', value: 2 })
  assert.equal((await call('script.evaluate', { expression: 1 })).error, 'invalid argument')
  const closed = once(socket, 'close')
  assert.equal((await call('session.end')).type, 'success')
  await closed
  const again = await openBidi(agent)
  assert.equal((await again.call('session.new', { capabilities: {} })).type, 'success')
  again.socket.terminate()
})

test('an error is small, whatever its stack', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  const { call, received } = await openSession(agent)
  for (const [method, params] of [
    ['script.evaluate', { expression: 1 }],
    ['browsingContext.navigate', { context: 'none', url: 'about:blank' }],
    ['no.such', {}],
  ] as const) {
    assert.equal((await call(method, params)).type, 'error')
    const { text } = received.at(-1)!
    assert.ok(text.length < 8192, `${method}: ${text.length} characters, ${text.slice(0, 300)}`)
  }
})

test('an event does not overtake the answer before it', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  const { call, received, context } = await openSession(agent)
  await call('session.subscribe', { events: ['browsingContext.load'] })
  const placeOfLoad = (navigation: unknown) =>
    received.findIndex(({ message }) => message.params?.['navigation'] === navigation)
  for (let round = 0; round < 10; round++) {
    const url = `data:text/html,<title>${round}</title>`
    const answer = await call('browsingContext.navigate', { context, url, wait: 'interactive' })
    assert.equal(answer.type, 'success')
    const navigation = answer.result?.['navigation']
    await eventually('the page is loaded', () => placeOfLoad(navigation) !== -1)
    const placeOfAnswer = received.findIndex(({ message }) => message.id === answer.id)
    assert.ok(placeOfAnswer < placeOfLoad(navigation), 'the load of the page came before the answer')
  }
})

test('answers and events carry the channel of the command', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  const { call, received, context } = await openSession(agent)
  const mine = { 'goog:channel': 'mine' }
  for (const method of ['session.status', 'session.new', 'browsingContext.getTree', 'no.such']) {
    assert.equal((await call(method, {}, mine))['goog:channel'], 'mine', method)
  }
  await call('session.subscribe', { events: ['browsingContext.load'] }, mine)
  await call('browsingContext.navigate', { context, url: 'data:text/html,a', wait: 'complete' })
  const event = received.find(({ message }) => message.method === 'browsingContext.load')
  assert.equal(event?.message['goog:channel'], 'mine')
})

test('the answer to a malformed command has the id of the command', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  const { send } = await openSession(agent)
  assert.equal((await send('{"id":77,"method":"session.status"}', 77)).error, 'invalid argument')
})
