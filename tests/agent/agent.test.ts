// The bundled agent with a real Chromium: starts, restarts, shapes, refusals and leases.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, readlinkSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { agentExitCodes, type AgentState } from '@berth/contracts/link'
import { operations } from '@berth/contracts/operations'
import type { CdpConnection } from '../../packages/agent/src/cdp/cdp-connection.ts'
import { AgentUnderTest, HEADLESS } from '../fixtures/agent/agent-under-test.ts'
import { startEgress } from '../fixtures/agent/egress.ts'
import { evaluate } from '../fixtures/agent/page.ts'

test('Chromium is ready with a page, and a client can use it through the link', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  const state = await agent.ready()
  assert.equal(state.browser, 'ready', state.failure ?? '')
  assert.match(state.devtools_path!, /^\/devtools\/browser\/[A-Za-z0-9-]+$/)
  assert.match(state.browser_version!, /Chrome/)
  using cdp = await agent.openCdp()
  assert.equal(await evaluate(cdp, '1 + 1'), 2)
  assert.deepEqual(await evaluate(cdp, '[innerWidth, innerHeight]'), [1280, 720])
  assert.equal(await evaluate(cdp, "!!document.createElement('canvas').getContext('webgl2')"), true)
})

test('an agent without a browser starts one on request, and only one for equal requests', async (t) => {
  const agent = await AgentUnderTest.start(t)
  assert.equal((await agent.state()).browser, 'none')
  const [one, other] = await Promise.all([
    agent.call('POST', '/browser', HEADLESS),
    agent.call('POST', '/browser', HEADLESS),
  ])
  assert.equal(one.status, 200, JSON.stringify(one.body))
  assert.deepEqual(one.body, other.body)
  assert.deepEqual(await agent.state(), one.body)
})

test('a request for the next state is answered when the state changes', async (t) => {
  const agent = await AgentUnderTest.start(t)
  const { number } = await agent.state()
  const next = agent.state(number)
  const started = agent.call('POST', '/browser', HEADLESS)
  const state = await next
  assert.equal(state.browser, 'starting')
  assert.ok(state.number > number)
  await started
})

test('Browser.close and SIGKILL each lead to a new Chromium on the same profile', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  const first = await agent.ready()
  const closing = await agent.openCdp()
  await closing.call('Browser.close')
  const began = performance.now()
  const second = await agent.until(({ browser, restarts }) => browser === 'ready' && restarts === 1)
  t.diagnostic(`ready ${Math.round(performance.now() - began)} ms after Browser.close`)
  assert.notEqual(second.devtools_path, first.devtools_path)
  {
    using cdp = await agent.openCdp()
    assert.equal(await evaluate(cdp, 'location.href'), 'about:blank')
  }
  process.kill(chromiumPid(agent), 'SIGKILL')
  const waiting = agent.openCdpAfter(2)
  const third = await agent.until(({ browser, restarts }) => browser === 'ready' && restarts === 2)
  assert.notEqual(third.devtools_path, second.devtools_path)
  using cdp = await waiting
  assert.equal(await evaluate(cdp, '1 + 1'), 2)
})

test('a request for another browser ends the current one, even while it starts', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  await agent.until(({ browser }) => browser === 'starting')
  const wanted = { ...HEADLESS, width: 1000, height: 700 }
  assert.equal((await agent.call('POST', '/browser', wanted)).status, 200)
  {
    using cdp = await agent.openCdp()
    assert.deepEqual(await evaluate(cdp, '[innerWidth, innerHeight]'), [1000, 700])
  }
  const { status, body } = await agent.call('POST', '/browser', HEADLESS)
  assert.equal(status, 200)
  assert.equal((body as AgentState).restarts, 0)
  using cdp = await agent.openCdp()
  assert.deepEqual(await evaluate(cdp, '[innerWidth, innerHeight]'), [1280, 720])
})

test('the agent stops restarting a Chromium that crashes too often, but starts one on request', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  for (let kills = 0; kills < 6; kills++) {
    await agent.until(({ browser, restarts }) => browser === 'ready' && restarts === kills)
    process.kill(chromiumPid(agent), 'SIGKILL')
  }
  const state = await agent.until(({ browser }) => browser === 'failed')
  assert.match(state.failure!, /too often/)
  assert.equal(state.devtools_path, null)
  assert.equal((await agent.call('POST', '/browser', HEADLESS)).status, 200)
})

test('a shape changes viewport and screen live, and a restart keeps it', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  await agent.ready()
  const sizes = '[innerWidth, innerHeight]'
  using cdp = await agent.openCdp()
  for (const [width, height] of [
    [1920, 1080],
    [500, 400],
    [7680, 4320],
    [320, 240],
  ]) {
    const began = performance.now()
    const { status, body } = await agent.call('POST', '/shape', { width, height })
    t.diagnostic(`${width}x${height} took ${Math.round(performance.now() - began)} ms`)
    assert.equal(status, 204, JSON.stringify(body))
    assert.deepEqual(await evaluate(cdp, sizes), [width, height])
    await checkWindow(cdp)
  }
  await cdp.call('Browser.close')
  await agent.until(({ browser, restarts }) => browser === 'ready' && restarts === 1)
  using again = await agent.openCdp()
  assert.deepEqual(await evaluate(again, sizes), [320, 240])
  await checkWindow(again)
})

/** Checks the sizes that a page sees in a maximised window with bars. */
async function checkWindow(cdp: CdpConnection): Promise<void> {
  const found = (await evaluate(
    cdp,
    `({ inner: [innerWidth, innerHeight], outer: [outerWidth, outerHeight], at: [screenX, screenY],
        screen: [screen.width, screen.height], free: [screen.availWidth, screen.availHeight] })`,
  )) as Record<'inner' | 'outer' | 'screen' | 'free' | 'at', [number, number]>
  const shown = JSON.stringify(found)
  const { inner, outer } = found
  assert.ok(outer[0] >= inner[0] && outer[1] > inner[1], shown)
  assert.deepEqual([found.screen, found.free, found.at], [outer, outer, [0, 0]], shown)
}

test('a start URL is loaded through the proxy and the egress', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  const egress = await startEgress(t, agent.directory)
  await agent.ready()
  const shaped = await agent.call('POST', '/shape', { start_url: 'http://example.test/start?x=1' })
  assert.equal(shaped.status, 204)
  using cdp = await agent.openCdp()
  while ((await evaluate(cdp, 'document.title')) !== 'reached') await delay(20)
  assert.equal(await evaluate(cdp, 'location.href'), 'http://example.test/start?x=1')
  assert.ok(egress.asked.includes('GET http://example.test/start?x=1 HTTP/1.1'))
  assert.ok(egress.visited.length > 0)
})

test('a page can reach servers in its instance, but not the debugging port in any spelling', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  const egress = await startEgress(t, agent.directory)
  await agent.ready()
  using cdp = await agent.openCdp()
  const ask = (url: string) =>
    evaluate(cdp, `fetch(${JSON.stringify(url)}, { mode: 'no-cors' }).then((r) => r.type, (e) => e.message)`)
  for (const host of ['localhost', 'a.localhost', '127.0.0.1', '2130706433', '0x7f.1']) {
    await ask(`http://${host}:${egress.port}/here`)
  }
  const here = egress.visited.filter((path) => path === '/here')
  assert.equal(here.length, 5)
  const version = `:${agent.ports.devtools}/json/version`
  for (const host of [
    'localhost',
    'a.localhost',
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '[::1]',
  ]) {
    const shaped = await agent.call('POST', '/shape', { start_url: `http://${host}${version}` })
    assert.equal(shaped.status, 204)
    while (!String(await evaluate(cdp, 'location.href + document.body?.innerText')).includes('belongs to')) {
      await delay(20)
    }
    await agent.call('POST', '/shape', { start_url: 'about:blank' })
    while ((await evaluate(cdp, 'location.href')) !== 'about:blank') await delay(20)
  }
  assert.deepEqual(
    egress.asked.filter((line) => line.includes(String(agent.ports.devtools))),
    [],
  )
})

test('a message of 20 MB passes to the page and back', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  await agent.ready()
  using cdp = await agent.openCdp()
  const length = 20 * 1024 * 1024
  const expression = `'${'x'.repeat(length)}'.length`
  assert.equal(await evaluate(cdp, expression), length)
})

test('the agent refuses invalid requests and keeps working', async (t) => {
  const agent = await AgentUnderTest.start(t)
  const refused: [string, string, unknown, number][] = [
    ['GET', '/nothing', undefined, 404],
    ['DELETE', '/state', undefined, 404],
    ['PUT', '/lease', undefined, 400],
    ['PUT', '/lease', { seconds: 0 }, 400],
    ['PUT', '/lease', { seconds: 1.5 }, 400],
    ['PUT', '/lease', '{"seconds":', 400],
    ['PUT', '/lease', [], 400],
    ['POST', '/browser', { ...HEADLESS, width: 319 }, 400],
    ['POST', '/browser', { ...HEADLESS, flags: ['--no-sandbox'] }, 400],
    ['POST', '/browser', { ...HEADLESS, locale: 'de --no-sandbox' }, 400],
    ['POST', '/browser', { ...HEADLESS, timezone: '' }, 400],
    ['PUT', '/policy', [], 400],
    ['POST', '/shape', '{"__proto__":{"width":500}}', 400],
    ['POST', '/shape', { start_url: 'x'.repeat(65_537) }, 400],
    ['POST', '/shape', { width: 500 }, 500],
    ['POST', '/shape', JSON.stringify('x'.repeat(6 * 1024 * 1024 + 10_000)), 413],
  ]
  for (const [method, path, body, status] of refused) {
    const answer = await agent.call(method, path, body)
    assert.equal(answer.status, status, `${method} ${path} ${JSON.stringify(answer.body)}`)
    assert.equal(typeof (answer.body as { message: string }).message, 'string')
  }
  assert.equal((await agent.state()).browser, 'none')
})

test('every control operation refuses a body that its contract does not allow', async (t) => {
  const agent = await AgentUnderTest.start(t)
  const withBody = operations.filter(({ effect, body }) => effect === 'control' && body !== undefined)
  assert.equal(withBody.length, 25)
  for (const { id, method, sessionPath, body } of withBody) {
    const path = `/control${sessionPath!.replace('{process_id}', 'x')}`
    const required = body!.required?.at(0) ?? 'no_such_field'
    for (const [wrong, why] of [
      [{ [required]: { unheard: 'of' } }, new RegExp(`^Cannot read the request: "`)],
      [[], /^Cannot read the request: the body is not an object$/],
    ] as const) {
      const { status, body: answer } = await agent.call(method, path, wrong)
      const { code, message } = answer as { code: string; message: string }
      assert.equal(status, 400, `${id}: ${message}`)
      assert.equal(code, 'bad_request', id)
      assert.match(message, why, id)
      assert.doesNotMatch(message, /unheard/, id)
    }
  }
  const { status } = await agent.call('POST', '/control/process/exec', { command: 'true' })
  assert.equal(status, 200)
})

test('connections with an unknown purpose are closed, and later valid ones are served', async (t) => {
  const agent = await AgentUnderTest.start(t)
  await agent.state()
  for (const line of ['nothing\n', '\n', 'apiapiapiapiapiapi', 'constructor\n', 'API\n', '\0'.repeat(100)]) {
    const socket = await agent.takeLink()
    socket.write(line)
    socket.resume()
    await once(socket, 'close')
  }
  const slow = await agent.takeLink()
  for (const letter of 'api\nGET /state HTTP/1.1\r\nhost: a\r\n\r\n') slow.write(letter)
  const [answer] = (await once(slow, 'data')) as [Buffer]
  assert.match(answer.toString(), /^HTTP\/1\.1 200/)
  slow.destroy()
})

test('the next server finds the agent unchanged', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  const before = await agent.ready()
  for (const purpose of ['api', 'cdp', 'bidi', 'playwright'] as const) {
    ;(await agent.connect(purpose)).destroy()
  }
  assert.deepEqual(await agent.state(), before)
})

test('the agent and Chromium end when nobody renews the lease', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  await agent.ready()
  const pid = chromiumPid(agent)
  assert.equal((await agent.call('PUT', '/lease', { seconds: 2 })).status, 200)
  const [code] = (await once(agent.process, 'exit')) as [number]
  assert.equal(code, agentExitCodes.leaseLapsed)
  assert.match(agent.output, /lease has lapsed/)
  while (isRunning(pid)) await delay(20)
})

test('a renewed lease keeps the agent running', async (t) => {
  const agent = await AgentUnderTest.start(t, { leaseSeconds: 1 })
  for (let round = 0; round < 6; round++) {
    assert.equal((await agent.call('PUT', '/lease', { seconds: 1 })).status, 200)
    await delay(300)
  }
  assert.equal(agent.process.exitCode, null)
})

/** Reads it from Chromium's lock on its profile, which has the host name and the process id. */
function chromiumPid(agent: AgentUnderTest): number {
  const lock = readlinkSync(`${agent.directory}/home/user-data/SingletonLock`)
  return Number(lock.slice(lock.lastIndexOf('-') + 1))
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
