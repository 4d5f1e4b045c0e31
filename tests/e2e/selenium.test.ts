// Selenium's own BiDi client, on the websocket of a session.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'
import { startSite } from '../fixtures/site.ts'

interface SeleniumBidi {
  waitForConnection(): Promise<void>
  send(command: { method: string; params: object }): Promise<{ result: Record<string, unknown> }>
  close(): Promise<void>
}
// It has no types.
const Bidi = createRequire(import.meta.url)('selenium-webdriver/bidi/index.js') as new (
  url: string,
) => SeleniumBidi

test('Selenium drives a page over BiDi', async (t) => {
  const site = await startSite(t)
  const server = await startServer(t, { hasRealInstances: true, env: site.allow })
  const { browsers } = client84(server)
  const session = await browsers.create({ headless: true })
  const bidi = new Bidi(session.webdriver_ws_url)
  await bidi.waitForConnection()
  await bidi.send({ method: 'session.new', params: { capabilities: {} } })
  const tree = await bidi.send({ method: 'browsingContext.getTree', params: {} })
  const [{ context }] = tree.result['contexts'] as [{ context: string }]
  const where = { context, url: site.url, wait: 'complete' }
  await bidi.send({ method: 'browsingContext.navigate', params: where })
  const title = await bidi.send({
    method: 'script.evaluate',
    params: { expression: 'document.title', target: { context }, awaitPromise: false },
  })
  assert.deepEqual(title.result['result'], { type: 'string', value: 'Home' })
  await bidi.close()
  await browsers.deleteByID(session.session_id)
})
