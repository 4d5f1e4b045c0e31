// Page actions through a real agent with a real Chromium: the server accepts what the agent sends.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pino from 'pino'
import { BrowserUnavailable } from '@berth/login/run/page-actions'
import { LiveSession } from '@berth/server/sessions/browsers/live-session'
import { AgentPageActions } from '@berth/server/logins/engine/agent-page-actions'
import type { Instance } from '@berth/server/instances/driver/driver'
import type { Collector } from '@berth/server/sessions/telemetry/collector'
import { AgentClient } from '@berth/server/instances/agent/client'
import { LoginUnderTest, named, saying } from '../fixtures/agent/login-under-test.ts'

const signal = new AbortController().signal

function sessionOf({ agent }: LoginUnderTest): LiveSession {
  // SAFETY: what a session without standby and telemetry uses of them.
  const instance = {
    id: 'real',
    connect: (purpose) => agent.connect(purpose),
    isFrozen: false,
    ended: new Promise<never>(() => {}),
  } as Partial<Instance> as Instance
  return new LiveSession({
    id: 'session',
    projectId: 'project',
    instance,
    agent: new AgentClient(instance),
    telemetry: { publish: () => {} } as Partial<Collector> as Collector,
    timeoutSeconds: 60,
    standby: null,
    uptimeMs: 0,
    hasProfile: false,
    log: pino({ level: 'silent' }),
    onStandby: () => {},
    onEnd: () => {},
  })
}

test('page actions complete a login, and report a Chromium that ends', async (t) => {
  const site = await LoginUnderTest.start(t, {
    '/login': `<title>Sign in</title><form action="/in"><label>User <input name="user"></label><button>Go</button></form>
      <iframe src="about:blank"></iframe>`,
    '/in': '<title>In</title><h1>Welcome</h1>',
  })
  const session = sessionOf(site)
  t.after(() => session.release())
  using pageActions = new AgentPageActions(session)
  const waits = { quiet_ms: 300, most_ms: 10_000 }
  const page = await pageActions.visit({ url: site.url('/login'), aside: false, ...waits }, signal)
  assert.equal(page.frames[0]!.title, 'Sign in')
  assert.equal(named(page, 'user').label, 'User')
  await pageActions.hide(['anna'])
  const user = named(page, 'user').ref
  const filled = await pageActions.act(
    { act: 'fill', refs: [user], value: 'anna', hosts: ['127.0.0.1'] },
    signal,
  )
  assert.equal(filled.result, 'done')
  await pageActions.act({ act: 'click', refs: [saying(page, 'Go').ref] }, signal)
  const inside = await pageActions.look(waits, signal)
  assert.equal(inside.url, site.url('/in?user=anna'))

  const waiting = pageActions.look({ ...waits, until_changed: true, most_ms: 30_000 }, signal)
  {
    using cdp = await site.agent.openCdp()
    await cdp.call('Browser.close')
  }
  await assert.rejects(waiting, (error) => error instanceof BrowserUnavailable && error.part === 'browser')
  const next = await pageActions.look(waits, signal)
  assert.ok(next.document > inside.document)
  // A killed instance no longer responds.
  site.agent.process.kill('SIGKILL')
  await assert.rejects(
    pageActions.look(waits, signal),
    (error) => error instanceof BrowserUnavailable && error.part === 'agent',
  )
})
