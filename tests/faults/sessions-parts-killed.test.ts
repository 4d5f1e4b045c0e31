// What remains of a session when each of its processes is killed.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { agrees } from '../fixtures/agreement.ts'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { partsOf, type Part } from '../fixtures/parts.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, endsAs, instanceOf, readSession, type Session } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'

const fileOwner = { after }
const site = await startSite(fileOwner)
const server = await startServer(fileOwner, {
  hasRealInstances: true,
  env: { ...site.allow, BERTH_LEASE_SECONDS: '4' },
})

/** A session with one page at the site, and a client that stays connected. */
async function open({ headless = true } = {}) {
  const session = await createSession(server, { headless })
  const instanceId = await instanceOf(server, session)
  const cdp = await CdpClient.open(session.cdp_ws_url)
  await visit(cdp)
  return { session, instanceId, cdp }
}

async function visit(cdp: CdpClient): Promise<void> {
  await cdp.callPage('Page.navigate', { url: site.url })
  await eventually('the page is there', async () => (await cdp.evaluate('document.title')) === 'Home')
}

function kill(instanceId: string, part: Part, which = 0): void {
  const processes = partsOf(instanceId, part)
  assert.ok(processes[which], `${part} ${which} of ${processes.length}`)
  process.kill(processes[which].pid, 'SIGKILL')
}

/** A new client finds a browser that can visit a page. */
async function works({ cdp_ws_url, session_id }: Session): Promise<void> {
  await withCdp(cdp_ws_url, visit)
  assert.equal((await readSession(server, session_id)).end_reason, undefined)
}

// In parallel, because most of it is waiting.
describe('a session', { concurrency: 3 }, () => {
  test('without its renderer a page crashes, reports it, and can be reloaded', async () => {
    const { session, instanceId, cdp } = await open()
    await cdp.callPage('Inspector.enable')
    kill(instanceId, 'renderer')
    await eventually('the client is told', () => cdp.events.includes('Inspector.targetCrashed'))
    await visit(cdp)
    await works(session)
  })

  test('Chromium replaces its helpers, and the page is not affected', async () => {
    const { session, instanceId, cdp } = await open()
    await cdp.evaluate('globalThis.kept = 42')
    for (const part of ['gpu', 'network'] as const) {
      const [before] = partsOf(instanceId, part)
      kill(instanceId, part)
      await eventually(`another ${part} process`, () =>
        partsOf(instanceId, part).some(({ pid }) => pid !== before!.pid),
      )
    }
    assert.equal(await cdp.evaluate('globalThis.kept'), 42)
    assert.match(await cdp.evaluate('fetch("/inner").then((response) => response.text())'), /Inside/)
    await works(session)
  })

  for (const { part, which, headless, withinMs } of [
    { part: 'chromium', which: 0, headless: true, withinMs: 2_000 },
    { part: 'display', which: 0, headless: false, withinMs: 2_000 },
    // The agent checks every 5 s. The first zygote starts helpers, the others pages.
    { part: 'zygote', which: 0, headless: true, withinMs: 7_000 },
    { part: 'zygote', which: 1, headless: true, withinMs: 7_000 },
    { part: 'zygote', which: 2, headless: false, withinMs: 7_000 },
  ] as const) {
    test(`without its ${part} (${which}) Chromium is restarted at the same URL`, async () => {
      const { session, instanceId, cdp } = await open({ headless })
      const [chromium] = partsOf(instanceId, 'chromium')
      const killedAt = performance.now()
      kill(instanceId, part, which)
      const { code, reason } = await cdp.closed()
      assert.deepEqual([code, reason], [1001, 'browser closed the connection'])
      const ms = performance.now() - killedAt
      assert.ok(ms < withinMs, `the client was told after ${Math.round(ms)} ms`)
      await works(session)
      assert.notEqual(partsOf(instanceId, 'chromium')[0]!.pid, chromium!.pid)
    })
  }

  test('without its agent or its sandbox a session crashes, and nothing of it is left', async () => {
    for (const { part, which } of [
      { part: 'agent', which: 0 },
      { part: 'bwrap', which: 0 },
      { part: 'bwrap', which: 1 },
    ] as const) {
      const { session, instanceId, cdp } = await open()
      kill(instanceId, part, which)
      assert.deepEqual(await cdp.closed(), { code: 4002, reason: 'session crashed' })
      await endsAs(server, session, { reason: 'crashed', withinMs: 5_000 })
    }
  })

  test('repeated crashes of Chromium end the session', async () => {
    const { session, instanceId } = await open()
    let last: number | undefined
    for (let kills = 0; kills < 6; kills++) {
      const next = () => partsOf(instanceId, 'chromium').find(({ pid }) => pid !== last)
      // Once it can be reached, it is ready, and its loss counts.
      await works(session)
      last = next()!.pid
      process.kill(last, 'SIGKILL')
    }
    // Noticed at the next lease renewal, four times per lease.
    await endsAs(server, session, { reason: 'crashed', withinMs: 5_000 })
  })
})

test('afterwards rows and processes agree, and there is no zombie', () => agrees(server))
