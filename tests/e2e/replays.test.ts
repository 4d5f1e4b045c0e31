// The video of a session shows what the session showed, at the right time.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import type { Replay } from '@berth/contracts/replays'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import {
  downloadReplay,
  listReplays,
  openColours,
  paint,
  rgbOf,
  startReplay,
  stopReplay,
  whenShown,
  type Colour,
} from '../fixtures/replays.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send, type Session } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'
import { framesOf, isNear, probe, topBoxes, type VideoFrame } from '../fixtures/video.ts'

const site = await startSite({ after })
const server = await startServer({ after }, { hasRealInstances: true, env: site.allow })
const viewport = { width: 1024, height: 768 }
const sessions = {
  headful: await createSession(server, { headless: false, kiosk_mode: true, viewport }),
  headless: await createSession(server, { headless: true, viewport }),
}
/** Away from the pointer, which is part of the picture. */
const PLACE = { x: 100, y: 600 }
const SLACK_MS = 200
const FRAMERATE = 20

/** Two times that a third must be between. A busy machine makes it long. */
interface Span {
  readonly from: number
  readonly to: number
}

function assertWithin(time: number, { from, to }: Span): void {
  assert.ok(time > from - SLACK_MS && time < to + SLACK_MS, `${time} is not within ${from} to ${to}`)
}

/** When the video shows each colour. */
function showsInTurn(frames: readonly VideoFrame[], order: readonly Colour[]): number[] {
  let from = 0
  return order.map((colour) => {
    const index = frames.findIndex((frame, at) => at >= from && isNear(frame.colour, rgbOf(colour)))
    const seen = frames.map(({ seconds, colour: rgb }) => `${seconds.toFixed(2)}: ${rgb.join()}`).join('\n')
    assert.notEqual(index, -1, `no ${colour} after picture ${from} of\n${seen}`)
    from = index + 1
    return frames[index]!.seconds
  })
}

for (const [kind, session] of Object.entries(sessions)) {
  const id = session.session_id

  describe(`a ${kind} session`, () => {
    test('records what it showed, when and how long', async () => {
      const { replay, flips, stop } = await withCdp(session.cdp_ws_url, async (cdp) => {
        await openColours(cdp, 'white')
        await whenShown(server, id, { ...PLACE, colour: 'white' })
        const started = await startReplay(server, id, { framerate: FRAMERATE })
        const times: Span[] = []
        for (const colour of ['red', 'green', 'blue'] as const) {
          await delay(600)
          const from = Date.now()
          await paint(cdp, colour)
          times.push({ from, to: await whenShown(server, id, { ...PLACE, colour }) })
        }
        await delay(1_500)
        const stopping = Date.now()
        await stopReplay(server, id, started)
        return { replay: started, flips: times, stop: { from: stopping, to: Date.now() } }
      })
      const video = await downloadReplay(server, id, replay)
      const startedAt = Date.parse(replay.started_at!)

      assert.deepEqual(topBoxes(video), ['ftyp', 'moov', 'mdat'])
      const { streams, format } = probe(video)
      assert.equal(streams.length, 1)
      const { codec_name, pix_fmt, width, height, color_space } = streams[0]!
      assert.deepEqual(
        { codec_name, pix_fmt, width, height, color_space },
        { codec_name: 'h264', pix_fmt: 'yuv420p', ...viewport, color_space: 'bt709' },
      )
      const frames = framesOf(video, PLACE)
      assert.equal(frames[0]!.seconds, 0)
      assert.ok(frames[0]!.isKey)
      const seen = showsInTurn(frames, ['white', 'red', 'green', 'blue']).slice(1)
      for (const [index, seconds] of seen.entries()) assertWithin(startedAt + seconds * 1000, flips[index]!)
      assertWithin(startedAt + Number(format.duration) * 1000, stop)
      // Nothing moved most of the time.
      assert.ok(frames.length < 25, `${frames.length} pictures`)

      const [listed] = (await listReplays(server, id)).filter((each) => each.replay_id === replay.replay_id)
      assert.equal(listed!.end_reason, 'stopped')
      assert.equal(listed!.size_bytes, video.length)
      assert.equal(listed!.duration_ms, Math.round(Number(format.duration) * 1000))
      assert.ok(Date.parse(listed!.finished_at!) >= stop.from - 1_000)
    })

    test('has its navigations and crashes as chapters', async () => {
      const replay = await startReplay(server, id)
      await withCdp(session.cdp_ws_url, async (cdp) => {
        await cdp.callPage('Page.navigate', { url: `${site.url}/popup?secret=1#also` })
        await eventually('it is there', async () => (await cdp.evaluate('document.title')) === 'Popup')
        await delay(400)
        cdp.callPage('Page.crash').catch(() => {})
        await delay(600)
      })
      await withCdp(session.cdp_ws_url, (cdp) => cdp.callPage('Page.navigate', { url: 'about:blank' }))
      await delay(300)
      await stopReplay(server, id, replay)
      const titles = probe(await downloadReplay(server, id, replay)).chapters.map(({ tags }) => tags?.title)
      const page = `host.berth.internal:${site.port}/popup`
      assert.ok(titles.includes(page), titles.join('\n'))
      assert.ok(titles.includes(`⚠ Crashed: ${page}`), titles.join('\n'))
      assert.ok(!titles.join().includes('secret'))
    })
  })
}

const { headful, headless } = sessions

test('several recordings run at once, and one stops at its maximum duration', async () => {
  const id = headful.session_id
  const cdp = await CdpClient.open(headful.cdp_ws_url)
  await openColours(cdp, 'red')
  await whenShown(server, id, { ...PLACE, colour: 'red' })
  const short = await startReplay(server, id, { max_duration_in_seconds: 1 })
  const long = await startReplay(server, id, { framerate: 5 })
  await delay(1_500)
  await paint(cdp, 'blue')
  await delay(400)
  await stopReplay(server, id, long)
  cdp.terminate()
  const ended = (await listReplays(server, id)).find(({ replay_id }) => replay_id === short.replay_id)
  assert.equal(ended!.end_reason, 'max_duration')
  const first = framesOf(await downloadReplay(server, id, short), PLACE)
  assert.ok(first.every(({ colour }) => isNear(colour, rgbOf('red'))))
  const shortVideo = probe(await downloadReplay(server, id, short))
  assert.ok(Math.abs(Number(shortVideo.format.duration) - 1) < 0.1, shortVideo.format.duration)
  showsInTurn(framesOf(await downloadReplay(server, id, long), PLACE), ['red', 'blue'])
})

test('the number of parallel recordings is limited', async () => {
  const id = headless.session_id
  const running: Replay[] = []
  for (let count = 0; count < 4; count++) running.push(await startReplay(server, id))
  const refused = await send(server, 'POST', `/browsers/${id}/replays`, {})
  assert.equal(refused.status, 409)
  assert.equal(refused.headers.get('x-should-retry'), 'false')
  assert.equal((await listReplays(server, id)).filter(({ finished_at }) => finished_at === null).length, 4)
  for (const replay of running) await stopReplay(server, id, replay)
})

test('a recorded session is resized only by force, and then continues as another recording', async () => {
  const id = headful.session_id
  const patch = (body: object) => send(server, 'PATCH', `/browsers/${id}`, { viewport: body })
  await withCdp(headful.cdp_ws_url, (cdp) => openColours(cdp, 'green'))
  const replay = await startReplay(server, id)
  assert.equal((await patch({ width: 800, height: 600 })).status, 409)
  assert.equal((await patch({ width: 800, height: 600, force: true })).status, 200)
  const next = (await listReplays(server, id)).find(({ continues }) => continues === replay.replay_id)
  assert.ok(next)
  await delay(500)
  await stopReplay(server, id, next)
  const [before, later] = [await downloadReplay(server, id, replay), await downloadReplay(server, id, next)]
  assert.equal(probe(before).streams[0]!.width, 1024)
  assert.equal(probe(later).streams[0]!.width, 800)
  showsInTurn(framesOf(later, { x: 50, y: 500 }), ['green'])
  const ended = (await listReplays(server, id)).find(({ replay_id }) => replay_id === replay.replay_id)
  assert.equal(ended!.end_reason, 'resized')
  assert.equal((await patch({ ...viewport })).status, 200)
})

test('a session can be recorded from creation to its end, and the recording is kept', async () => {
  const session = await createSession(server, {
    headless: false,
    kiosk_mode: true,
    viewport,
    record: { framerate: 2 },
  })
  const id = session.session_id
  const [replay] = await listReplays(server, id)
  assert.equal(replay!.framerate, 2)
  await withCdp(session.cdp_ws_url, async (cdp) => {
    await openColours(cdp, 'blue')
    await whenShown(server, id, { ...PLACE, colour: 'blue' })
    await delay(1_000)
    // The last frame is taken although it is not due yet: half a second after the one that this begins.
    await paint(cdp, 'green')
    await paint(cdp, 'red')
    await whenShown(server, id, { ...PLACE, colour: 'red' })
  })
  const deletedAt = Date.now()
  assert.equal((await send(server, 'DELETE', `/browsers/${id}`)).status, 204)
  const goneAt = Date.now()
  const video = await downloadReplay(server, id, replay!)
  showsInTurn(framesOf(video, PLACE), ['blue', 'red'])
  const [ended] = await listReplays(server, id)
  assert.equal(ended!.end_reason, 'session_ended')
  assertWithin(Date.parse(ended!.started_at!) + ended!.duration_ms!, { from: deletedAt, to: goneAt })
})

test('invalid recordings are refused by name', async () => {
  const id = headless.session_id
  for (const [body, field] of [
    [{ framerate: 0 }, 'framerate'],
    [{ framerate: 61 }, 'framerate'],
    [{ framerate: 21 }, 'framerate'],
    [{ max_duration_in_seconds: 0 }, 'max_duration_in_seconds'],
    [{ record_audio: 'loud' }, 'record_audio'],
  ] as const) {
    const answer = await send(server, 'POST', `/browsers/${id}/replays`, body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(answer.body.message!, new RegExp(field))
  }
  const created = await send(server, 'POST', '/browsers', { headless: true, record: { framerate: 30 } })
  assert.equal(created.status, 400)
})

test('a recorded session stays awake', async () => {
  const session = await createSession(server, { headless: true })
  const replay = await startReplay(server, session.session_id)
  const uptime = async () =>
    (await send<Session & { usage: { uptime_ms: number } }>(server, 'GET', `/browsers/${session.session_id}`))
      .body.usage.uptime_ms
  const before = await uptime()
  await delay(7_000)
  assert.ok((await uptime()) - before >= 6_900)
  await stopReplay(server, session.session_id, replay)
  await send(server, 'DELETE', `/browsers/${session.session_id}`)
})

test('the page at replay_view_url plays, seeks, and jumps to chapters', async () => {
  const id = headful.session_id
  const replay = await startReplay(server, id)
  const waiting = await fetch(replay.replay_view_url!)
  assert.equal(waiting.status, 200)
  assert.match(await waiting.text(), /still being recorded/)
  await withCdp(headful.cdp_ws_url, async (cdp) => {
    for (const path of ['/', '/popup', '/inner']) {
      await cdp.callPage('Page.navigate', { url: site.url + path })
      await delay(700)
    }
  })
  await stopReplay(server, id, replay)
  await downloadReplay(server, id, replay)
  const { replay_view_url: url } = (await listReplays(server, id)).find(
    (each) => each.replay_id === replay.replay_id,
  )!

  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  try {
    for (const [name, size] of Object.entries({
      desktop: { width: 1440, height: 900 },
      phone: { width: 390, height: 844 },
    })) {
      const page = await browser.newPage({ viewport: size })
      const problems: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text())
      })
      page.on('pageerror', (error) => problems.push(error.message))
      await page.goto(url!)
      const state = () =>
        page.evaluate<{ time: number; width: number; duration: number; ready: number }>(
          `(() => { const video = document.querySelector('video'); return { time: video.currentTime,
            width: video.videoWidth, duration: video.duration, ready: video.readyState } })()`,
        )
      await eventually('the video is loaded', async () => (await state()).ready >= 1)
      const { width, duration } = await state()
      assert.equal(width, viewport.width)
      assert.ok(duration > 2)
      const chapter = page.getByRole('button', { name: '/popup' })
      await chapter.click()
      const at = Number(await chapter.getAttribute('data-time'))
      assert.ok(at > 0.3)
      await eventually('it plays from there', async () => (await state()).time > at)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
      if (process.env['BERTH_TEST_PICTURES']) {
        await page.screenshot({ path: `${process.env['BERTH_TEST_PICTURES']}/replay-${name}.png` })
      }
      assert.deepEqual(problems, [])
      await page.close()
    }
  } finally {
    await browser.close()
  }
})

describe('an encoder without time to start', () => {
  const { session_id: id, cdp_ws_url: cdpUrl } = sessions.headful
  const run = async (act: 'exec' | 'spawn', script: string) => {
    const body = { command: '/bin/bash', args: ['-c', script] }
    const { status, body: answer } = await send(server, 'POST', `/browsers/${id}/process/${act}`, body)
    assert.equal(status, 200, JSON.stringify(answer))
  }
  /** Stops the next encoder before it reads anything, as a host does that is busy elsewhere. */
  const hold = () =>
    run(
      'spawn',
      `while :; do for p in /proc/[0-9]*; do
        read -r name < $p/comm && [ "$name" = ffmpeg ] && kill -STOP "\${p#/proc/}" && exit
      done 2> /dev/null; done`,
    )
  const letGo = () =>
    run(
      'exec',
      `for p in /proc/[0-9]*; do
        read -r name < $p/comm && [ "$name" = ffmpeg ] && kill -CONT "\${p#/proc/}"
      done 2> /dev/null; true`,
    )

  test('delays the recording, which begins with its first picture, and fails nothing', async () => {
    await withCdp(cdpUrl, async (cdp) => {
      await openColours(cdp, 'red')
      await whenShown(server, id, { ...PLACE, colour: 'red' })
      await hold()
      const from = Date.now()
      const replay = await startReplay(server, id, { framerate: FRAMERATE })
      const waitedMs = Date.now() - from
      assert.ok(waitedMs > 4_000, `it was held: the answer came after ${waitedMs} ms`)
      await letGo()
      await delay(1_000)
      await paint(cdp, 'blue')
      await whenShown(server, id, { ...PLACE, colour: 'blue' })
      await delay(1_000)
      await stopReplay(server, id, replay)
      const all = Date.now() - from
      const video = await downloadReplay(server, id, replay)
      const seconds = Number(probe(video).format.duration)
      assert.ok(seconds > 1 && seconds * 1000 < all - 4_000, `${seconds} s of ${all} ms`)
      showsInTurn(framesOf(video, PLACE), ['red', 'blue'])
    })
  })

  test('does not delay the end', async () => {
    await hold()
    const replay = await startReplay(server, id)
    const from = Date.now()
    await stopReplay(server, id, replay)
    assert.ok(Date.now() - from < 4_000)
    await letGo()
  })
})
