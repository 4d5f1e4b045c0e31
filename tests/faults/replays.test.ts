// Servers and instances are killed during recordings: everything shown until then can be played.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Replay } from '@berth/contracts/replays'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { eventually, processesOf } from '../fixtures/host.ts'
import {
  downloadReplay,
  listReplays,
  openColours,
  paint,
  rgbOf,
  startReplay,
  stopReplay,
} from '../fixtures/replays.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { createSession, instanceOf, send } from '../fixtures/sessions.ts'
import { framesOf, isNear, probe } from '../fixtures/video.ts'

const hasRealInstances = true
const options = { kiosk_mode: true, headless: false, viewport: { width: 800, height: 600 } }
const PLACE = { x: 50, y: 500 }

test('kill -9 of server and instance leaves the video up to that moment', async (t) => {
  const dataDir = tempDir(t)
  const first = await startServer(t, { hasRealInstances, dataDir })
  const session = await createSession(first, options)
  const id = session.session_id
  const cdp = await CdpClient.open(session.cdp_ws_url)
  await openColours(cdp, 'red')
  const replay = await startReplay(first, id, { framerate: 20 })
  await delay(1_000)
  await paint(cdp, 'blue')
  await delay(1_500)
  const instance = await instanceOf(first, session)
  const killedAt = Date.now()
  await first.stop('SIGKILL')
  for (const { pid } of processesOf(instance)) killQuietly(pid)

  const second = await startServer(t, { hasRealInstances, dataDir })
  const video = await downloadReplay(second, id, replay)
  const frames = framesOf(video, PLACE)
  assert.ok(frames.some(({ colour }) => isNear(colour, rgbOf('blue'))))
  const seconds = (killedAt - Date.parse(replay.started_at!)) / 1000
  const duration = Number(probe(video).format.duration)
  // The clock of a still page ticks every two seconds.
  assert.ok(duration <= seconds + 0.2 && duration > seconds - 2.7, `${duration} of ${seconds} s`)
  const [listed] = await listReplays(second, id)
  assert.ok(listed!.finished_at)
})

test('the next server continues a recording and loses nothing of it', async (t) => {
  const first = await startServer(t, { hasRealInstances })
  const session = await createSession(first, options)
  const id = session.session_id
  await withCdp(session.cdp_ws_url, (cdp) => openColours(cdp, 'red'))
  const replay = await startReplay(first, id, { framerate: 20 })
  await withCdp(session.cdp_ws_url, (cdp) => paint(cdp, 'green'))
  await delay(300)
  // Frames that the first server never sees.
  const cdp = await CdpClient.open(session.cdp_ws_url)
  await cdp.evaluate(`setTimeout(() => { document.body.style.background = 'blue' }, 600), 0`)
  await first.stop('SIGKILL')
  const second = await restart(t, first)
  await withCdp(session.cdp_ws_url, (again) => paint(again, 'white'))
  await delay(500)
  const stoppedAt = Date.now()
  await stopReplay(second, id, replay)
  const video = await downloadReplay(second, id, replay)
  const frames = framesOf(video, PLACE)
  for (const colour of ['red', 'green', 'blue', 'white'] as const) {
    assert.ok(
      frames.some((frame) => isNear(frame.colour, rgbOf(colour))),
      colour,
    )
  }
  const seconds = (stoppedAt - Date.parse(replay.started_at!)) / 1000
  const duration = Number(probe(video).format.duration)
  assert.ok(Math.abs(duration - seconds) < 0.3, `${duration} of ${seconds} s`)
  const [listed] = await listReplays(second, id)
  assert.equal(listed!.lost_ms, undefined)
})

test('a kill at any point between the first frame and the finished video leaves a complete video or none', async (t) => {
  const dataDir = tempDir(t)
  for (const at of [
    'replay-inserted',
    'replay-started',
    'replay-ended',
    'replay-stored',
    'replay-recorded',
  ]) {
    const doomed = await startServer(t, { hasRealInstances, dataDir, env: { BERTH_CRASH_AT: at } })
    const { session_id: session } = await createSession(doomed, { headless: true })
    const start = await send<Replay>(doomed, 'POST', `/browsers/${session}/replays`, {}).catch(
      () => undefined,
    )
    const isBegun = start !== undefined
    if (isBegun) {
      const path = `/browsers/${session}/replays/${start.body.replay_id}/stop`
      await send(doomed, 'POST', path).catch(() => {})
    }
    await eventually(`a kill at ${at}`, () => doomed.process.signalCode === 'SIGKILL')
    // The next server would crash at the same point, so one without a crash point looks at it.
    const server = await startServer(t, { hasRealInstances, dataDir })
    assert.equal(isBegun, !['replay-inserted', 'replay-started'].includes(at))
    if (isBegun) {
      const video = await downloadReplay(server, session, start.body)
      assert.ok(framesOf(video, { x: 10, y: 10 }).length > 0, at)
    } else assert.deepEqual(await listReplays(server, session), [], at)
    assert.equal(await server.stop(), 0)
  }
})

test('a recording that gets too large stops and says so', async (t) => {
  const server = await startServer(t, { hasRealInstances, env: { BERTH_REPLAY_MAX_MB: '1' } })
  const session = await createSession(server, options)
  const id = session.session_id
  await withCdp(session.cdp_ws_url, async (cdp) => {
    const noise = `<!doctype html><title>Noise</title><body style="margin:0"><canvas width=800 height=600></canvas><script>
      const context = document.querySelector('canvas').getContext('2d')
      const image = context.createImageData(800, 600)
      const draw = () => { crypto.getRandomValues(new Uint8Array(image.data.buffer, 0, 65536))
        image.data.copyWithin(65536 * (1 + Math.random() * 28 | 0), 0, 65536); image.data.fill(255, 0, 4)
        context.putImageData(image, 0, 0); requestAnimationFrame(draw) }
      for (let at = 3; at < image.data.length; at += 4) image.data[at] = 255
      draw()
      </script>`
    await cdp.callPage('Page.navigate', { url: `data:text/html,${encodeURIComponent(noise)}` })
    const replay = await startReplay(server, id, { framerate: 20 })
    await eventually(
      'it stopped by itself',
      async () => (await listReplays(server, id))[0]!.finished_at !== null,
    )
    const video = await downloadReplay(server, id, replay)
    const [listed] = await listReplays(server, id)
    assert.equal(listed!.end_reason, 'size_limit')
    assert.ok(video.length > 500_000 && video.length < 8_000_000, `${video.length} bytes`)
    assert.ok(framesOf(video, PLACE).length > 3)
  })
})

function restart(t: TestContext, { url, dataDir }: TestServer): Promise<TestServer> {
  return startServer(t, { hasRealInstances, dataDir, env: { BERTH_PORT: new URL(url).port } })
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Already removed with another one.
  }
}
