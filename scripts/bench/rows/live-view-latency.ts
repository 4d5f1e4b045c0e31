// Time from a change on the page until a viewer has decoded it, through the server and without it.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { RfbClient, screenUrl, type Fill, type RfbOptions } from '../../../tests/fixtures/rfb.ts'
import { BareChromium } from '../subjects/bare-chromium.ts'
import { H264View } from '../subjects/h264-view.ts'
import { Page } from '../subjects/page.ts'
import { whyNoHeadfulSessions } from '../subjects/session-servers.ts'
import { whyNoProgram } from '../subjects/spawned.ts'
import { compare } from '../measure/compare.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import type { CoreList } from '../measure/cores.ts'
import { quantile } from '../measure/statistics.ts'
import type { ProcessRow } from './row.ts'

const WAIT_TIMEOUT_MS = 5_000
/** Pause between two changes; random, so that they do not synchronise with frames. */
const BETWEEN_MS = { min: 80, spread: 60 }
const MIDDLE = { x: 960, y: 600 }
/** The refresh rate of the screen; with fewer frames, a change would wait for the next one. */
const H264_FRAMES_A_SECOND = 60
/** How far 4:2:0 and the quantiser may change each channel of a colour. */
const H264_TOLERANCE = 24

export const liveViewLatencyRow: ProcessRow = {
  number: 20,
  title: 'Live view: from a colour change on the page to a viewer, against the X server directly',
  whySkipped: () => whyNoHeadfulSessions() ?? whyNoProgram('ffmpeg'),
  async *measureProcesses({ cleanup, cores, servers }, measuring) {
    const { effort } = measuring
    const server = await servers.one({})
    const browser = await server.create({ headless: false })
    const chromium = await BareChromium.start(cleanup, { cores: cores.server, isHeadless: false })
    const oursPage = await Page.open(browser.cdp_ws_url)
    const barePage = await Page.open(chromium.wsUrl)
    const ours = await Witness.open((options) =>
      RfbClient.overWebSocket(screenUrl(browser.browser_live_view_url!), options),
    )
    const bare = await Witness.open((options) => RfbClient.overSocket(chromium.rfbSocket, options))
    await Promise.all([server.settled({ sessions: 1 }), chromium.settled(effort)])
    const count = effort.flipsPerBlock
    yield await compare(
      {
        blocks: { ours: flipBlock(oursPage, ours, count), baseline: flipBlock(barePage, bare, count) },
        pairs: effort.flipPairs,
        metrics: [
          line('p50', 'p50Ms', { goal: atMost(1.15, 0.7) }),
          { ...line('p95', 'flipsMs', {}), quantile: 0.95 },
        ],
      },
      measuring,
    )
    await bare.close()
    const encoded = Witness.ofH264({ display: chromium.display, cores: cores.server })
    yield await compare(
      {
        blocks: { ours: flipBlock(oursPage, ours, count), baseline: flipBlock(barePage, encoded, count) },
        pairs: Math.min(5, effort.flipPairs),
        metrics: [line('beside H.264, p50', 'p50Ms', {})],
      },
      measuring,
    )
    await Promise.all([ours.close(), encoded.close(), oursPage.close(), barePage.close()])
    await server.delete(browser)
    await chromium.end()
  },
}

function line(what: string, reading: string, more: Pick<Metric, 'goal'>): Metric {
  const name = `Live view: change to decoded, ${what}`
  return { row: 20, name, reading, unit: 'ms', digits: 1, judged: 'ratio', ...more }
}

function flipBlock(page: Page, witness: Witness, count: number): Block {
  return async () => {
    const flipsMs: number[] = []
    while (flipsMs.length < count) {
      await pause(BETWEEN_MS.min + Math.random() * BETWEEN_MS.spread)
      const colour = Math.floor(Math.random() * 0xffffff)
      const css = `#${colour.toString(16).padStart(6, '0')}`
      const seen = witness.next(colour)
      const changedAt = await page.evaluate(
        `document.documentElement.style.background = '${css}'; performance.timeOrigin + performance.now()`,
      )
      flipsMs.push((await seen) - (changedAt as number))
    }
    assert.ok(
      flipsMs.every((ms) => ms > 0 && ms < 1_000),
      flipsMs.join(),
    )
    return { flipsMs, p50Ms: quantile(flipsMs, 0.5) }
  }
}

function isNear(one: number, other: number, tolerance: number): boolean {
  return [16, 8, 0].every(
    (shift) => Math.abs(((one >> shift) & 0xff) - ((other >> shift) & 0xff)) <= tolerance,
  )
}

/** Waits for a colour in the middle of the screen. */
class Witness {
  readonly #tolerance: number
  #wanted: { readonly colour: number; readonly resolve: (at: number) => void } | undefined
  #viewer: { close(): unknown } | undefined

  private constructor(tolerance = 0) {
    this.#tolerance = tolerance
  }

  static async open(connect: (options: RfbOptions) => Promise<RfbClient>): Promise<Witness> {
    const witness = new Witness()
    witness.#viewer = await connect({ isContinuous: true, onFill: (fill) => witness.#take(fill) })
    return witness
  }

  static ofH264({ display, cores }: { display: string; cores: CoreList }): Witness {
    const witness = new Witness(H264_TOLERANCE)
    const onColour = (colour: number) => witness.#takeColour(colour)
    const view = new H264View({
      display,
      cores,
      framesPerSecond: H264_FRAMES_A_SECOND,
      pixel: { ...MIDDLE, onColour },
    })
    witness.#viewer = { close: () => view.end() }
    return witness
  }

  /** Resolves with the time at which the colour was decoded. */
  next(colour: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const timer = setTimeout(
      () => reject(new Error('The viewer did not see the change in time')),
      WAIT_TIMEOUT_MS,
    )
    this.#wanted = { colour, resolve }
    return promise.finally(() => clearTimeout(timer))
  }

  async close(): Promise<void> {
    await this.#viewer!.close()
  }

  #take({ x, y, width, height, colour }: Fill): void {
    const isInMiddle = x <= MIDDLE.x && MIDDLE.x < x + width && y <= MIDDLE.y && MIDDLE.y < y + height
    if (isInMiddle) this.#takeColour(colour)
  }

  #takeColour(colour: number): void {
    if (!this.#wanted || !isNear(colour, this.#wanted.colour, this.#tolerance)) return
    this.#wanted.resolve(performance.timeOrigin + performance.now())
    this.#wanted = undefined
  }
}
