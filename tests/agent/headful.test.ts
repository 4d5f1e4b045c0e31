// The window of a headful Chromium.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { AgentUnderTest, HEADFUL } from '../fixtures/agent/agent-under-test.ts'
import { evaluate } from '../fixtures/agent/page.ts'

const SIZES = '[outerWidth, outerHeight, screen.width, screen.height, innerWidth, innerHeight]'

test('the window of a headful Chromium fills its screen, follows its size, and can be a kiosk', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADFUL, hasOwnTmp: true })
  const began = performance.now()
  const state = await agent.ready()
  t.diagnostic(`ready after ${Math.round(performance.now() - began)} ms`)
  assert.equal(state.browser, 'ready', state.failure ?? '')
  using cdp = await agent.openCdp()
  const sizes = async () => (await evaluate(cdp, SIZES)) as number[]
  const shape = async (change: object) => {
    const before = performance.now()
    const { status, body } = await agent.call('POST', '/shape', change)
    t.diagnostic(
      `${JSON.stringify(change)} took ${Math.round(performance.now() - before)} ms: ${(await sizes()).join()}`,
    )
    assert.equal(status, 204, JSON.stringify(body))
  }
  /** The window has its new size when the call is answered; the page sees it a moment later. */
  const becomes = async (wanted: readonly number[]) => {
    let seen: number[] = []
    for (const until = performance.now() + 5_000; performance.now() < until; await delay(20)) {
      seen = (await sizes()).slice(0, wanted.length)
      if (seen.join() === wanted.join()) return
    }
    assert.deepEqual(seen, wanted)
  }
  t.diagnostic((await sizes()).join())
  await becomes([1280, 720, 1280, 720])
  await shape({ width: 1920, height: 1080 })
  await becomes([1920, 1080, 1920, 1080])
  await shape({ kiosk: true })
  await becomes([1920, 1080, 1920, 1080, 1920, 1080])
  await shape({ width: 800, height: 600 })
  await becomes([800, 600, 800, 600, 800, 600])
  await shape({ kiosk: false, width: 1280, height: 720 })
  await becomes([1280, 720, 1280, 720])
})
