// The order of answers and events over WebDriver BiDi. packages/agent/src/bidi/one-by-one.test.ts has the rule itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentUnderTest, HEADLESS } from '../fixtures/agent/agent-under-test.ts'
import { openSession } from '../fixtures/agent/bidi-client.ts'
import { eventually } from '../fixtures/host.ts'

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
