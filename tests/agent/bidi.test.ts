// WebDriver BiDi through the agent.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { AgentUnderTest, HEADLESS } from '../fixtures/agent/agent-under-test.ts'
import { openBidi, openSession } from '../fixtures/agent/bidi-client.ts'

test('a BiDi client creates a session, drives a page and ends the session', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  const { socket, call, send } = await openBidi(agent)
  assert.equal((await send('nonsense', null)).error, 'invalid argument')
  assert.equal((await call('browsingContext.getTree')).error, 'invalid session id')
  assert.equal((await call('session.status')).result?.['ready'], true)
  const made = await call('session.new', { capabilities: {} })
  assert.equal(made.type, 'success', JSON.stringify(made))
  assert.match(String(made.result?.['sessionId']), /^[0-9a-f-]{36}$/)
  // In the words of the mapper.
  const { result: status } = await call('session.status')
  assert.deepEqual(status, { ready: false, message: 'already connected' })
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
