// The order of answers and events over WebDriver BiDi. packages/agent/src/bidi/one-by-one.test.ts has the rule itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { AgentUnderTest, HEADLESS } from '../fixtures/agent/agent-under-test.ts'
import { openSession } from '../fixtures/agent/bidi-client.ts'
import { allProcesses, eventually, type HostProcess } from '../fixtures/host.ts'

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

test('a load of the document that was there before is not taken for that of the navigation', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  await agent.ready()
  const renderers = descendants(agent.process.pid!).filter(({ command }) =>
    command.includes(' --type=renderer'),
  )
  assert.ok(renderers.length > 0)
  const signal = (name: NodeJS.Signals) => {
    for (const { pid } of renderers) process.kill(pid, name)
  }
  // As on a busy machine: the browser goes on, and the page's own process does not get its turn.
  signal('SIGSTOP')
  const waking = delay(500).then(() => signal('SIGCONT'))
  const { call, received, context } = await openSession(agent)
  await call('session.subscribe', { events: ['browsingContext.load'] })
  const url = 'data:text/html,<title>new</title>'
  const answer = await call('browsingContext.navigate', { context, url, wait: 'interactive' })
  await waking
  const loads = () => received.filter(({ message }) => message.method === 'browsingContext.load')
  await eventually('the page is loaded', () => loads().some(({ message }) => message.params?.['url'] === url))
  assert.deepEqual(
    loads().map(({ message }) => message.params?.['url']),
    [url],
  )
  const placeOfAnswer = received.findIndex(({ message }) => message.id === answer.id)
  assert.ok(placeOfAnswer < received.indexOf(loads()[0]!), 'the load of the page came before the answer')
})

function descendants(root: number): HostProcess[] {
  const all = allProcesses()
  const below = (pid: number): HostProcess[] =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...below(child.pid)])
  return below(root)
}
