// Screenshots through the API, and with the usual alternatives.
import assert from 'node:assert/strict'
import type { Browser } from '@berth/contracts/browsers'
import { decodePng } from '../../../tests/fixtures/decode-png.ts'
import { BareChromium } from '../subjects/bare-chromium.ts'
import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoHeadfulSessions, whyNoSessions } from '../subjects/session-servers.ts'
import { runOn, whyNoProgram } from '../subjects/spawned.ts'
import { compare } from '../measure/compare.ts'
import { atMost, type Goal, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { median } from '../measure/statistics.ts'
import type { ProcessRow } from './row.ts'

/** Text of every size and colour, buttons, fields and a gradient, like a real page. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>Picture</title>
  <style>body { font: 15px sans-serif; caret-color: transparent } p { margin: 8px }
  div { height: 160px; background: linear-gradient(90deg, #c33, #33c) }</style><h1>Harbour</h1>
  <script>
    for (let row = 0; row < 24; row++) document.write('<p style="color: hsl(' + row * 15 + ' 80% 35%)">Berth ' + row +
      ': the quick brown fox jumps over the lazy dog, 漢字 and ' + Math.sin(row) + ' more words to fill the line ' +
      '<button>Press</button> <input value="text"></p>')
  </script><div></div>`

/** One way to take a screenshot. */
interface Shot {
  readonly png: Buffer
  readonly elapsedMs: number
}

export const headfulScreenshotRow: ProcessRow = {
  number: 25,
  title: 'Screenshot of a headful session through the API, against ffmpeg and CDP',
  whySkipped: whyNoHeadfulSessions,
  async *measureProcesses({ cleanup, cores, servers }, measuring) {
    const { effort } = measuring
    const server = await servers.one({})
    const browser = await server.create({ headless: false })
    const chromium = await BareChromium.start(cleanup, { cores: cores.server, isHeadless: false })
    const [oursPage, barePage] = [await openPage(browser.cdp_ws_url), await openPage(chromium.wsUrl)]
    await Promise.all([server.settled({ sessions: 1 }), chromium.settled(effort)])
    await assertSamePixels(oursPage, server, browser)
    const count = effort.screenshotsPerBlock
    const ours = shotBlock(() => oursShot(server, browser), count)
    const common = { pairs: effort.screenshotPairs }
    const place = { display: chromium.display, cores: cores.server }
    const missing = whyNoProgram('ffmpeg')
    if (!missing) {
      const baseline = shotBlock(() => timed(() => runOn(place, 'ffmpeg', ffmpeg(place.display))), count)
      const metrics = [line(25, 'Screenshot, headful, against ffmpeg', 'shotMs', 'ms', atMost(0.1, 0.05))]
      yield await compare({ ...common, blocks: { ours, baseline }, metrics }, measuring)
    }
    const baseline = shotBlock(() => timed(() => cdpShot(barePage)), count)
    const metrics = [
      line(25, 'Screenshot, headful, against CDP', 'shotMs', 'ms', atMost(0.25, 0.12)),
      line(25, 'Screenshot, headful: size', 'kilobytes', 'KB', atMost(1.8)),
    ]
    const compared = await compare({ ...common, blocks: { ours, baseline }, metrics }, measuring)
    yield { ...compared, ...(missing && { skipped: [`against ffmpeg: ${missing}`] }) }
    await Promise.all([oursPage.close(), barePage.close()])
    await server.delete(browser)
    await chromium.end()
  },
}

export const headlessScreenshotRow: ProcessRow = {
  number: 26,
  title: 'Screenshot of a headless session through the API, against CDP',
  whySkipped: whyNoSessions,
  async *measureProcesses({ cleanup, cores, servers }, measuring) {
    const { effort } = measuring
    const server = await servers.one({})
    const browser = await server.create({ headless: true })
    const chromium = await BareChromium.start(cleanup, { cores: cores.server, isHeadless: true })
    const [oursPage, barePage] = [await openPage(browser.cdp_ws_url), await openPage(chromium.wsUrl)]
    await Promise.all([server.settled({ sessions: 1 }), chromium.settled(effort)])
    const count = effort.screenshotsPerBlock
    yield await compare(
      {
        blocks: {
          ours: shotBlock(() => oursShot(server, browser), count),
          baseline: shotBlock(() => timed(() => cdpShot(barePage)), count),
        },
        pairs: effort.screenshotPairs,
        metrics: [
          line(26, 'Screenshot, headless, against CDP', 'shotMs', 'ms', atMost(0.75, 0.55)),
          line(26, 'Screenshot, headless: size', 'kilobytes', 'KB'),
        ],
      },
      measuring,
    )
    await Promise.all([oursPage.close(), barePage.close()])
    await server.delete(browser)
    await chromium.end()
  },
}

const ffmpeg = (display: string) =>
  `-v error -f x11grab -draw_mouse 0 -video_size 1920x1080 -i ${display} -frames:v 1 -f image2pipe -c:v png -`.split(
    ' ',
  )

function line(row: number, name: string, reading: string, unit: string, goal?: Goal): Metric {
  return { row, name, reading, unit, digits: 1, judged: 'ratio', ...(goal && { goal }) }
}

async function openPage(wsUrl: string): Promise<Page> {
  const page = await Page.open(wsUrl)
  await page.call('Page.navigate', { url: `data:text/html;charset=utf-8,${encodeURIComponent(PAGE)}` })
  await page.until('document.title + document.readyState', 'Picturecomplete')
  return page
}

async function oursShot(server: SessionServer, browser: Browser): Promise<Shot> {
  const { bytes, elapsedMs } = await server.control(browser, 'computer/screenshot', {})
  return { png: bytes, elapsedMs }
}

async function cdpShot(page: Page): Promise<Buffer> {
  const { data } = await page.call<{ data: string }>('Page.captureScreenshot', { format: 'png' })
  return Buffer.from(data, 'base64')
}

async function timed(take: () => Promise<Buffer>): Promise<Shot> {
  const startedAt = performance.now()
  const png = await take()
  return { png, elapsedMs: performance.now() - startedAt }
}

function shotBlock(take: () => Promise<Shot>, count: number): Block {
  return async () => {
    const shots: Shot[] = []
    while (shots.length < count) shots.push(await take())
    for (const { png } of shots) assertPicture(png)
    return {
      shotMs: median(shots.map(({ elapsedMs }) => elapsedMs)),
      kilobytes: median(shots.map(({ png }) => png.length / 1024)),
    }
  }
}

/** The picture is complete and not blank. */
function assertPicture(png: Buffer): void {
  const picture = decodePng(png)
  const { width, height } = picture
  assert.ok(width >= 1900 && height >= 900, `the screenshot is ${width}x${height}`)
  const colours = new Set<number>()
  for (let y = 0; y < height; y += 5) for (let x = 0; x < width; x += 5) colours.add(picture.at(x, y))
  assert.ok(colours.size > 100, `${colours.size} colours`)
}

/** The page area of the screen picture equals CDP's screenshot, pixel by pixel. */
async function assertSamePixels(page: Page, server: SessionServer, browser: Browser): Promise<void> {
  const screen = decodePng((await oursShot(server, browser)).png)
  const inner = decodePng(await cdpShot(page))
  const [left, top] = [screen.width - inner.width, screen.height - inner.height]
  for (let y = 0; y < inner.height; y++) {
    for (let x = 0; x < inner.width; x++) {
      assert.equal(screen.at(left + x, top + y), inner.at(x, y), `pixel ${x},${y}`)
    }
  }
}
