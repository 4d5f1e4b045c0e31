// Viewers hear what a session plays once they ask for it, and at once. One of them is the page of the live view in a real
// browser: a session of another server, whose own recording then has the sound.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { freePort } from '../fixtures/free-port.ts'
import { eventually } from '../fixtures/host.ts'
import { downloadReplay, startReplay, stopReplay } from '../fixtures/replays.ts'
import { RfbClient, screenUrl } from '../fixtures/rfb.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import {
  heard,
  loudness,
  openSilentPage,
  playTone,
  RATE,
  soundOf,
  soundServers,
  stopTone,
} from '../fixtures/sound.ts'

const owner = { after }
const MAX_DELAY_MS = 200
const HERTZ = 1_000
const port = await freePort()
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { BERTH_PORT: String(port), BERTH_ALLOWED_HOSTS: 'host.berth.internal' },
})

/** Left channel, from -1 to 1. */
function toFloats(samples: Buffer): Float32Array {
  return Float32Array.from({ length: samples.length / 4 }, (_, at) => samples.readInt16LE(at * 4) / 32_768)
}
const hasTone = (samples: Buffer, hertz = HERTZ) => loudness(toFloats(samples), hertz) > 0.02

for (const headless of [false, true]) {
  test(`a viewer of a ${headless ? 'headless' : 'headful'} session hears it, soon, and only while it listens`, async (t) => {
    const [session, other] = await Promise.all([
      createSession(server, { headless }),
      createSession(server, { headless: false }),
    ])
    const link = await send<{ url: string }>(
      server,
      'POST',
      `/browsers/${session.session_id}/live_view_links`,
      { mode: 'read_only', expires_in_seconds: 600 },
    )
    const heardAt: { at: number; samples: Buffer }[] = []
    let elsewhere = 0
    let unasked = 0
    const viewer = await RfbClient.overWebSocket(screenUrl(link.body.url), {
      isContinuous: !headless,
      onSound: (samples) => heardAt.push({ at: Date.now(), samples }),
    })
    const quiet = await RfbClient.overWebSocket(screenUrl(link.body.url), {
      isContinuous: !headless,
      onSound: () => unasked++,
    })
    const neighbour = await RfbClient.overWebSocket(screenUrl(other.browser_live_view_url!), {
      isContinuous: true,
      onSound: () => elsewhere++,
    })
    neighbour.listen()
    viewer.listen()
    const cdp = await CdpClient.open(session.cdp_ws_url)
    await openSilentPage(cdp)
    await delay(500)
    assert.equal(await soundServers(server, session.session_id), 0)
    assert.equal(heardAt.length, 0)

    await playTone(cdp, HERTZ)
    await eventually('the tone is heard', () => heardAt.some(({ samples }) => hasTone(samples)))
    await stopTone(cdp)
    // The server and Chromium's sound are there now. From here on only the way counts.
    const delays: number[] = []
    for (let beep = 0; beep < 5; beep++) {
      await delay(1_000)
      const before = heardAt.length
      // The page says when it begins to play.
      await playTone(cdp, HERTZ)
      const from = await cdp.evaluate<number>('performance.timeOrigin + globalThis.tone.startedAt')
      await eventually('the beep is heard', () =>
        heardAt.slice(before).some(({ samples }) => hasTone(samples)),
      )
      delays.push(heardAt.slice(before).find(({ samples }) => hasTone(samples))!.at - from)
      await stopTone(cdp)
    }
    const sorted = delays.toSorted((one, another) => one - another)
    t.diagnostic(`heard after ${delays.map(Math.round).join(', ')} ms`)
    assert.ok(sorted[2]! <= MAX_DELAY_MS, `beeps came after ${delays.map(Math.round).join(', ')} ms`)

    viewer.listen(false)
    await delay(500)
    const before = heardAt.length
    await playTone(cdp, HERTZ)
    await delay(1_000)
    assert.equal(heardAt.length, before)
    assert.equal(unasked, 0)
    assert.equal(elsewhere, 0)
    await Promise.all([viewer, quiet, neighbour].map((each) => each.close()))
  })
}

test('the page is muted until somebody clicks, and then plays it', async (t) => {
  const viewers = await startServer(owner, {
    hasRealInstances: true,
    env: { BERTH_EGRESS_ALLOW: `host.berth.internal:${port}` },
  })
  const session = await createSession(server, { headless: false })
  const watcher = await createSession(viewers, { headless: false })
  const browser = await chromium.connectOverCDP(watcher.cdp_ws_url)
  const page = browser.contexts()[0]!.pages()[0]!
  await page.goto(session.browser_live_view_url!.replace('127.0.0.1', 'host.berth.internal'))
  await page.locator('body[data-state="connected"]').waitFor()
  const replay = await startReplay(viewers, watcher.session_id, { record_audio: true })
  await withCdp(session.cdp_ws_url, async (cdp) => {
    await openSilentPage(cdp)
    await playTone(cdp, HERTZ)
    await delay(1_500)
    assert.equal(await soundServers(viewers, watcher.session_id), 0)
    const button = page.getByRole('button', { name: 'Sound' })
    assert.equal(await button.getAttribute('aria-pressed'), 'false')
    await button.click()
    assert.equal(await button.getAttribute('aria-pressed'), 'true')
    await delay(2_500)
    await button.click()
    await delay(1_000)
  })
  await stopReplay(viewers, watcher.session_id, replay)
  const sound = soundOf(await downloadReplay(viewers, watcher.session_id, replay))
  const times = heard(sound, HERTZ)
  t.diagnostic(`heard for ${Math.round(times.length * 20)} ms`)
  // Two browsers and an encoder on a busy machine leave long holes.
  assert.ok(times.length >= 5 && times.length * 0.02 < 4, `heard for ${times.length * 0.02} s`)
  assert.ok(times[0]! > 1, `heard at ${times[0]!} s already`)
  assert.ok(sound.length / RATE - times.at(-1)! > 0.4)
  await browser.close()
})
