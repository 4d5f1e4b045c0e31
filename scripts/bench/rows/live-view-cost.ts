// What a viewer costs: CPU time of everything on the host, and bytes to the viewer.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import { RfbClient, screenUrl } from '../../../tests/fixtures/rfb.ts'
import { BareChromium } from '../subjects/bare-chromium.ts'
import { H264View } from '../subjects/h264-view.ts'
import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoHeadfulSessions } from '../subjects/session-servers.ts'
import { whyNoProgram } from '../subjects/spawned.ts'
import { compare } from '../measure/compare.ts'
import { atMost, type Goal, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import type { Measuring } from '../measure/compare.ts'
import type { ProcessRow } from './row.ts'

const QUALITY = 70
const MIN_FPS = 12
const FRAMES_A_SECOND = 20
const SETTLE_MS = 300

/** A timer sets the pace of both sides, so that neither draws more frames. */
const moving = (what: string) => `<!doctype html><meta charset="utf-8"><title>Moving</title>
  <style>body { font: 15px sans-serif; margin: 20px } p { margin: 8px }
  #spinner { width: 48px; height: 48px; border: 6px solid #ccc; border-top-color: #36c; border-radius: 50% }</style>
  <h1>Harbour</h1><div id="spinner"></div><script>
    for (let row = 0; row < 400; row++) document.write('<p style="color: hsl(' + row * 15 + ' 80% 35%)">Berth ' + row +
      ': the quick brown fox jumps over the lazy dog, 漢字 and ' + Math.sin(row) + ' more words to fill the line ' +
      '<button>Press</button> <input value="text"></p>')
    let step = 0
    window.move = () => { step++; ${what} }
    let timer
    window.start = () => { timer = setInterval(move, ${1000 / FRAMES_A_SECOND}) }
    window.stop = () => clearInterval(timer)
  </script>`

const pages = {
  spinner: moving(`spinner.style.transform = 'rotate(' + step * 18 + 'deg)'`),
  scroll: moving('scrollTo(0, (step * 24) % 8000)'),
}

export const liveViewCostRow: ProcessRow = {
  number: 21,
  title: 'Live view: CPU and bytes of a viewer, against the screencast of CDP',
  whySkipped: () => whyNoHeadfulSessions() ?? whyNoProgram('ffmpeg'),
  async *measureProcesses({ cleanup, cores, servers }, measuring) {
    const { effort } = measuring
    const server = await servers.one({})
    const browser = await server.create({ headless: false })
    const chromium = await BareChromium.start(cleanup, { cores: cores.server, isHeadless: false })
    const [ours, bare] = [await Page.open(browser.cdp_ws_url), await Page.open(chromium.wsUrl)]
    for (const [name, html] of Object.entries(pages)) {
      await Promise.all([show(ours, html), show(bare, html)])
      await Promise.all([server.settled({ sessions: 1 }), chromium.settled(effort)])
      const seconds = effort.watchSeconds
      const watched = watchBlock({
        page: ours,
        cpuMs: () => server.cpuMs(),
        seconds,
        watch: () => view(browser),
      })
      yield await compare(
        {
          blocks: {
            ours: watched,
            baseline: watchBlock({
              page: bare,
              cpuMs: () => chromium.cpuMs(),
              seconds,
              watch: () => screencast(bare),
            }),
          },
          pairs: effort.watchPairs,
          isRestless: true,
          metrics: [
            line(`${name}: CPU of a frame`, 'cpuMs', 'ms', atMost(0.6, 0.3)),
            line(`${name}: bytes of a frame`, 'kilobytes', 'KB', atMost(0.5, 0.2)),
            line(`${name}: frames`, 'fps', 'fps'),
          ],
        },
        measuring,
      )
      let encoder: H264View | undefined
      const encoded = watchBlock({
        page: bare,
        cpuMs: () => chromium.cpuMs() + (encoder?.cpuMs() ?? 0),
        seconds,
        watch: async () => {
          const { display } = chromium
          encoder = new H264View({ display, cores: cores.server, framesPerSecond: FRAMES_A_SECOND })
          await until(() => encoder!.frames > 0)
          return encoder
        },
      })
      yield await compare(
        {
          blocks: { ours: watched, baseline: encoded },
          pairs: Math.min(5, effort.watchPairs),
          isRestless: true,
          metrics: [
            line(`${name}, beside H.264: CPU of a frame`, 'cpuMs', 'ms'),
            line(`${name}, beside H.264: bytes of a frame`, 'kilobytes', 'KB'),
          ],
        },
        measuring,
      )
    }
    yield await still({ server, browser, page: ours }, measuring)
    await Promise.all([ours.close(), bare.close()])
    await server.delete(browser)
    await chromium.end()
  },
}

function line(name: string, reading: string, unit: string, goal?: Goal): Metric {
  const more = goal ? { goal } : {}
  return { row: 21, name: `Live view, ${name}`, reading, unit, digits: 1, judged: 'ratio', ...more }
}

async function show(page: Page, html: string): Promise<void> {
  await page.call('Page.navigate', { url: 'about:blank' })
  await page.until('location.href + document.readyState', 'about:blankcomplete')
  await page.call('Page.navigate', { url: `data:text/html;charset=utf-8,${encodeURIComponent(html)}` })
  await page.until('document.title + document.readyState', 'Movingcomplete')
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(10)
}

/** A viewer, and how much it has received. */
interface Watching {
  readonly frames: number
  readonly bytes: number
  end(): Promise<void>
}

async function view(browser: Browser): Promise<Watching> {
  const viewer = await RfbClient.overWebSocket(screenUrl(browser.browser_live_view_url!), {
    isContinuous: true,
  })
  return {
    get frames() {
      return viewer.updates
    },
    get bytes() {
      return viewer.bytes
    },
    end: async () => void (await viewer.close()),
  }
}

async function screencast(page: Page): Promise<Watching> {
  let [frames, bytes] = [0, 0]
  const { cdp, sessionId } = page
  const onMessage = (data: Buffer) => {
    // The start of the message is enough to recognise it; the picture follows.
    if (!data.subarray(0, 60).includes('Page.screencastFrame')) return
    const { params } = JSON.parse(data.toString()) as { params: { data: string; sessionId: number } }
    frames++
    bytes += Buffer.byteLength(params.data, 'base64')
    cdp.socket.send(
      JSON.stringify({
        id: 1_000_000_000 + frames,
        method: 'Page.screencastFrameAck',
        params: { sessionId: params.sessionId },
        sessionId,
      }),
    )
  }
  cdp.socket.on('message', onMessage)
  await page.call('Page.startScreencast', { format: 'jpeg', quality: QUALITY })
  return {
    get frames() {
      return frames
    },
    get bytes() {
      return bytes
    },
    end: async () => {
      await page.call('Page.stopScreencast')
      cdp.socket.off('message', onMessage)
    },
  }
}

interface WatchOptions {
  readonly page: Page
  readonly cpuMs: () => number
  readonly seconds: number
  readonly watch: () => Promise<Watching>
}

/** Measures without a viewer, then with one; the difference is the cost of watching. */
function watchBlock({ page, cpuMs, seconds, watch }: WatchOptions): Block {
  return async () => {
    await page.evaluate('start()')
    try {
      await pause(SETTLE_MS)
      const alone = await rateOf(cpuMs, seconds)
      const watching = await watch()
      await pause(SETTLE_MS)
      const [frames, bytes] = [watching.frames, watching.bytes]
      const startedAt = performance.now()
      const together = await rateOf(cpuMs, seconds)
      const elapsed = (performance.now() - startedAt) / 1000
      // One frame may come in several updates, and the page draws no more than this.
      const fps = Math.min(FRAMES_A_SECOND, (watching.frames - frames) / elapsed)
      const kilobytes = (watching.bytes - bytes) / 1024 / elapsed / fps
      await watching.end()
      assert.ok(fps >= MIN_FPS || seconds < 1, `only ${fps.toFixed(1)} frames a second`)
      return { cpuMs: Math.max(1, together - alone) / fps, kilobytes, fps }
    } finally {
      await page.evaluate('stop()')
    }
  }
}

/** Milliseconds of CPU time per second. */
async function rateOf(cpuMs: () => number, seconds: number): Promise<number> {
  const [before, startedAt] = [cpuMs(), performance.now()]
  await pause(seconds * 1000)
  return ((cpuMs() - before) / (performance.now() - startedAt)) * 1000
}

async function still(
  { server, browser, page }: { server: SessionServer; browser: Browser; page: Page },
  measuring: Measuring,
) {
  await page.evaluate('stop(); document.activeElement?.blur()')
  const viewer = await view(browser)
  await server.settled({ sessions: 1 })
  const block = (bytes: () => number): Block => {
    return async () => {
      const before = bytes()
      await pause(measuring.effort.watchSeconds * 1000)
      return { kilobytes: (bytes() - before) / 1024 / measuring.effort.watchSeconds }
    }
  }
  const compared = await compare(
    {
      blocks: { ours: block(() => viewer.bytes), baseline: async () => ({ kilobytes: 0 }) },
      pairs: Math.min(5, measuring.effort.watchPairs),
      metrics: [
        {
          row: 21,
          name: 'Live view, still: bytes',
          reading: 'kilobytes',
          unit: 'KB/s',
          digits: 2,
          judged: 'value',
          isOursOnly: true,
          goal: atMost(1),
        },
      ],
    },
    measuring,
  )
  await viewer.end()
  return compared
}
