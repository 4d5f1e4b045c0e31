import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OwnCommands, whenPagesAreKnown, type Ask } from './first-pages.ts'

test('each page that is there is asked, after Chromium has named them', async () => {
  const asked: string[] = []
  const ask: Ask = async (method, params) => {
    asked.push(`${method} ${JSON.stringify((params as { target?: object }).target ?? '')}`)
    return method === 'browsingContext.getTree' ? { contexts: [{ context: 'a' }, { context: 'b' }] } : {}
  }
  await whenPagesAreKnown(ask)
  assert.deepEqual(asked, [
    'browser.getUserContexts ""',
    'browsingContext.getTree ""',
    'script.evaluate {"context":"a"}',
    'script.evaluate {"context":"b"}',
  ])
})

const askBusyPage: Ask = async (method) => {
  if (method === 'script.evaluate') return new Promise(() => {})
  return { contexts: [{ context: 'a' }] }
}

test('a page that does not answer is waited for only so long', async () => {
  const begun = performance.now()
  await whenPagesAreKnown(askBusyPage, 50)
  assert.ok(performance.now() - begun < 1000)
})

test('a tree that cannot be had is no obstacle', async () => {
  await whenPagesAreKnown(async () => undefined)
})

test("answers to our own commands are taken, and a client's are not", async () => {
  const own = new OwnCommands()
  const sent: { id: number }[] = []
  const send = (command: object) => void sent.push(command as { id: number })
  const good = own.ask(send, 'a', {})
  const bad = own.ask(send, 'b', {})
  const [first, second] = sent
  assert.ok(first!.id < 0 && second!.id < 0)
  assert.equal(own.take({ id: 0, type: 'success', result: {} }), false)
  assert.equal(own.take({ type: 'event' }), false)
  assert.equal(own.take({ id: second!.id, type: 'error' }), true)
  assert.equal(own.take({ id: first!.id, type: 'success', result: { x: 1 } }), true)
  assert.deepEqual(await Promise.all([good, bad]), [{ x: 1 }, undefined])
})
