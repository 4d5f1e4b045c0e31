// When much of the screen moves, a capable viewer gets video (H.264), and otherwise the changes. The moving page has
// stripes whose colours identify the frame.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium, type Page } from 'playwright-core'
import { freePort } from '../fixtures/free-port.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { eventually } from '../fixtures/host.ts'
import { encodingsOf, RfbClient, screenUrl, type RfbOptions } from '../fixtures/rfb.ts'
import { downloadReplay, startReplay, stopReplay } from '../fixtures/replays.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { framesOf, isNear } from '../fixtures/video.ts'

const fileOwner = { after }
const SIZE = { width: 1024, height: 768 }
const H264 = 50
/** Of 255; ten times that while it moves. */
const UNSEEN = 8
const STRIPE = 100
const COLOURS = ['#c03020', '#208040', '#2040c0', '#c0a020'] as const
const rgb = COLOURS.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)))

const REMOTE_PAGE = `<!doctype html><meta charset="utf-8"><title>Moving</title>
  <style>body { margin: 0; color: white; font: 14px/${STRIPE}px sans-serif } div { height: ${STRIPE}px }</style>
  <script>
    for (let row = 0; row < 200; row++) document.write('<div style="background: ' +
      ${JSON.stringify(COLOURS)}[row % 4] + '">Stripe ' + row + ', 漢字 and ' + Math.sin(row) + '</div>')
    let [timer, at] = [undefined, 0]
    window.start = () => { timer ??= setInterval(() => scrollTo(0, (at += 50) % 10000), 40) }
    window.stop = () => { clearInterval(timer); timer = undefined }
  </script>`

const port = await freePort()
const origin = `http://host.berth.internal:${port}`
const server = await startServer(fileOwner, {
  hasRealInstances: true,
  env: {
    BERTH_PORT: String(port),
    BERTH_ALLOWED_HOSTS: 'host.berth.internal',
    BERTH_EGRESS_ALLOW: `host.berth.internal:${port}`,
  },
})
const session = await createSession(server, {
  headless: false,
  kiosk_mode: true,
  viewport: SIZE,
  timeout_seconds: 600,
})
const remoteBrowser = await chromium.connectOverCDP(session.cdp_ws_url)
cleanUpAfter(fileOwner, () => remoteBrowser.close())
const remote = remoteBrowser.contexts()[0]!.pages()[0]!
await remote.setContent(REMOTE_PAGE)
// Moved aside: the pointer is in screenshots, but not in what a viewer gets.
await send(server, 'POST', `/browsers/${session.session_id}/computer/move_mouse`, {
  x: SIZE.width - 1,
  y: SIZE.height - 1,
  smooth: false,
})

const watch = (options: RfbOptions = {}) =>
  RfbClient.overWebSocket(screenUrl(session.browser_live_view_url!), { isContinuous: true, ...options })

const pictures = (viewer: RfbClient) => viewer.rectangles.get(H264) ?? 0

async function hasMore(what: string, count: () => number, more: number): Promise<void> {
  const before = count()
  await eventually(what, () => count() >= before + more)
}

async function isStill(viewer: RfbClient): Promise<void> {
  let before = -1
  await eventually('all is shown', async () => {
    const [bytes, seen] = [viewer.bytes, before]
    before = bytes
    await pause(300)
    return bytes === seen
  })
}

/** The largest difference between the viewer and the screen. */
async function difference(view: Page): Promise<number> {
  const answer = await server.fetch(`/browsers/${session.session_id}/computer/screenshot`, { method: 'POST' })
  assert.equal(answer.status, 200)
  const png = Buffer.from(await answer.arrayBuffer()).toString('base64')
  return view.evaluate<number>(`(async () => {
    const blob = new Blob([Uint8Array.from(atob('${png}'), (character) => character.charCodeAt(0))])
    const wanted = new OffscreenCanvas(${SIZE.width}, ${SIZE.height}).getContext('2d')
    wanted.drawImage(await createImageBitmap(blob), 0, 0)
    const shown = document.querySelector('#screen canvas').getContext('2d')
    const [one, other] = [wanted, shown].map((each) => each.getImageData(0, 0, ${SIZE.width - 16}, ${SIZE.height - 16}).data)
    let most = 0
    for (let at = 0; at < one.length; at++) most = Math.max(most, Math.abs(one[at] - other[at]))
    return most
  })()`)
}

test('the page shows video while much moves, and then the exact screen', async () => {
  // Browsers decode video only on HTTPS pages, which this server does not serve.
  const { cdp_ws_url } = await createSession(server, {
    headless: true,
    chrome_policy: { OverrideSecurityRestrictionsOnInsecureOrigin: [origin] },
  })
  const browser = await chromium.connectOverCDP(cdp_ws_url)
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const view = await context.newPage()
  const problems: string[] = []
  view.on('pageerror', (error) => problems.push(error.message))
  view.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  await view.addInitScript(`
    window.decoded = 0
    const { decode } = VideoDecoder.prototype
    VideoDecoder.prototype.decode = function (chunk) { decoded++; return decode.call(this, chunk) }
  `)
  await view.goto(session.browser_live_view_url!.replace('127.0.0.1', 'host.berth.internal'))
  await view.locator('body[data-state="connected"]').waitFor({ state: 'attached' })
  const decoded = () => view.evaluate<number>('decoded')
  const afterLoading = await decoded()
  await eventually('all of it is shown', async () => (await difference(view)) <= UNSEEN)
  assert.equal(await decoded(), afterLoading, 'a page that stands still is no video')

  await remote.evaluate('start()')
  await eventually('it is video', async () => (await decoded()) > afterLoading + 30)
  const stripe = await view.evaluate<number[]>(`[...document.querySelector('#screen canvas').getContext('2d')
    .getImageData(900, 400, 1, 1).data.slice(0, 3)]`)
  assert.ok(
    rgb.some((colour) => isNear(stripe, colour, 16)),
    `${stripe.join()} is none of the colours`,
  )
  await remote.evaluate('stop()')
  await eventually('it is as sharp as before', async () => (await difference(view)) <= UNSEEN)
  const afterwards = await decoded()
  // Sending it once more for sharpness does not count as movement.
  await pause(2_000)
  assert.equal(await decoded(), afterwards)
  assert.deepEqual(problems, [])
  await browser.close()
})

test('video frames are complete, in order and correct', async () => {
  const stream: Buffer[] = []
  const viewer = await watch({ onVideo: (picture) => stream.push(picture) })
  await isStill(viewer)
  await remote.evaluate('start()')
  await hasMore('pictures come', () => pictures(viewer), 40)
  await remote.evaluate('stop()')
  await isStill(viewer)
  await remote.evaluate('start()')
  await hasMore('more come', () => pictures(viewer), 20)
  await remote.evaluate('stop()')
  await isStill(viewer)
  await viewer.close()
  // One decoder for all: a missing frame would show.
  const frames = framesOf(Buffer.concat(stream), { x: 900, y: 400 })
  assert.equal(frames.length, stream.length)
  for (const { colour } of frames) {
    assert.ok(
      rgb.some((each) => isNear(colour, each, 16)),
      `${colour.join()} is none of the colours`,
    )
  }
})

test('other viewers get what they can handle: without a decoder, joining later, or without answers', async () => {
  const [first, without, silent] = await Promise.all([
    watch(),
    watch({ encodings: encodingsOf().filter((encoding) => encoding !== H264) }),
    watch({ ignoresFence: (payload) => payload.toString() === 'video' }),
  ])
  await remote.evaluate('start()')
  await hasMore('the first has video', () => pictures(first), 20)
  await hasMore('who has no decoder sees it, too', () => without.updates, 10)
  assert.equal(pictures(without), 0)
  // At most what is allowed without an answer, and then the updates of the X server.
  await eventually('the silent one is on video', () => pictures(silent) > 0)
  await hasMore('the silent one still sees it', () => silent.updates - pictures(silent), 20)
  assert.ok(pictures(silent) <= 12, `${pictures(silent)} pictures without an answer`)
  await hasMore('nobody holds up the first', () => pictures(first), 20)
  const later = await watch()
  await hasMore('one that comes later sees it, too', () => later.updates, 10)
  await hasMore('and gets video with the next key frame', () => pictures(later), 10)
  for (const viewer of [first, without, silent, later]) await viewer.close()
})

test('a new screen size, and a recording at the same time', async () => {
  const path = `/browsers/${session.session_id}`
  const viewer = await watch()
  await remote.evaluate('start()')
  await hasMore('it is video', () => pictures(viewer), 10)
  const replay = await startReplay(server, session.session_id, { framerate: 20 })
  await hasMore('it still is, while it is recorded', () => pictures(viewer), 20)
  await stopReplay(server, session.session_id, replay)
  const frames = framesOf(await downloadReplay(server, session.session_id, replay), { x: 900, y: 400 })
  assert.ok(frames.length > 10 && frames.every(({ colour }) => rgb.some((each) => isNear(colour, each, 16))))

  for (const viewport of [{ width: 800, height: 600 }, SIZE]) {
    const answer = await send(server, 'PATCH', path, { viewport: { ...viewport, force: true } })
    assert.equal(answer.status, 200)
    await eventually('the viewer knows', () => viewer.width === viewport.width)
    await hasMore('it is video again', () => pictures(viewer), 10)
  }
  await remote.evaluate('stop()')
  await isStill(viewer)
  await viewer.close()
})

test('rare changes are not movement, however large', async () => {
  // Large enough that a change comes in several parts.
  const large = await createSession(server, {
    headless: false,
    viewport: { width: 1920, height: 1080 },
  })
  const browser = await chromium.connectOverCDP(large.cdp_ws_url)
  const page = browser.contexts()[0]!.pages()[0]!
  const viewer = await RfbClient.overWebSocket(screenUrl(large.browser_live_view_url!), {
    isContinuous: true,
  })
  await isStill(viewer)
  for (let step = 0; step < 30; step++) {
    const shown = viewer.updates
    await page.evaluate(`document.documentElement.style.background = 'hsl(${step * 50} 80% 40%)'`)
    await eventually('it is shown', () => viewer.updates > shown)
    // From when it was shown: on a busy machine, changes would come in bunches. If each counted twice, it would be movement.
    await pause(150)
  }
  assert.equal(pictures(viewer), 0)
  await viewer.close()
  await browser.close()
  await send(server, 'DELETE', `/browsers/${large.session_id}`)
})
