// WebDriver BiDi through the agent.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { AgentUnderTest, HEADLESS } from '../fixtures/agent/agent-under-test.ts'

interface Answer {
  id: number | null
  type: string
  error?: string
  result?: Record<string, unknown>
}

async function openBidi(agent: AgentUnderTest) {
  const link = await agent.connect('bidi')
  const socket = new WebSocket('ws://agent/session', { createConnection: () => link })
  const answers: Answer[] = []
  let wake: (() => void) | undefined
  socket.on('message', (data: Buffer) => {
    answers.push(JSON.parse(data.toString()) as Answer)
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
  const call = async (method: string, params: object = {}) => {
    const id = ++lastId
    return send(JSON.stringify({ id, method, params }), id)
  }
  return { socket, call, send }
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
