// The time until a page computes: in one of our sessions, or in a Chromium spawned for it. The same websocket client
// checks both.
import type { Browser } from '@berth/contracts/browsers'
import { BareChromium } from '../subjects/bare-chromium.ts'
import { Page } from '../subjects/page.ts'
import { assertScreenshot } from '../subjects/screenshot.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import type { Goal, Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import type { Cleanup } from '../cleanup.ts'
import type { CoreList } from '../measure/cores.ts'

interface Kind {
  readonly isHeadless: boolean
}

/** How a session is created: by default with the smallest HTTP client. */
export type Create = (wish: { headless: boolean }) => Promise<Pick<Browser, 'session_id' | 'cdp_ws_url'>>

/** Waits until the server is idle before and after, so that its background work affects neither side. */
export function createBlock(
  server: SessionServer,
  { isHeadless }: Kind,
  create: Create = (wish) => server.create(wish),
): Block {
  return async () => {
    const cpuBefore = server.cpuMs()
    const startedAt = performance.now()
    const browser = await create({ headless: isHeadless })
    const createMs = performance.now() - startedAt
    const page = await Page.open(browser.cdp_ws_url)
    const usableMs = performance.now() - startedAt
    const cpuMs = server.cpuMs() - cpuBefore
    const shownMs = usableMs + (await screenshotMs(page, { isHeadless }))
    await page.close()
    await server.delete(browser)
    await server.settled()
    return { usableMs, createMs, cpuMs, shownMs }
  }
}

export function spawnBlock(cleanup: Cleanup, { isHeadless, cores }: Kind & { cores: CoreList }): Block {
  return async () => {
    const startedAt = performance.now()
    const chromium = await BareChromium.start(cleanup, { cores, isHeadless })
    const page = await Page.open(chromium.wsUrl)
    const usableMs = performance.now() - startedAt
    const cpuMs = chromium.cpuMs()
    const shownMs = usableMs + (await screenshotMs(page, { isHeadless }))
    await page.close()
    await chromium.end()
    return { usableMs, cpuMs, shownMs }
  }
}

/** Checks that a headful browser shows its page. */
async function screenshotMs(page: Page, { isHeadless }: Kind): Promise<number> {
  const startedAt = performance.now()
  if (!isHeadless) await assertScreenshot(page)
  return performance.now() - startedAt
}

interface UsableMetrics {
  readonly row: number
  readonly name: string
  readonly judged: 'ratio' | 'speedup'
  readonly goal?: Goal
  readonly note?: string
}

/** The judged metric, then the server's answer time and the CPU time so far. */
export function usableMetrics({ goal, note, ...of }: UsableMetrics): Metric[] {
  return [
    { ...usableMetric('usable', 'usableMs', of), ...(goal && { goal }), ...(note && { note }) },
    { ...usableMetric('POST /browsers alone', 'createMs', of), judged: 'value', isOursOnly: true },
    usableMetric('CPU until usable', 'cpuMs', of),
  ]
}

export function usableMetric(
  what: string,
  reading: string,
  { row, name, judged }: Pick<UsableMetrics, 'row' | 'name' | 'judged'>,
): Metric {
  return { row, name: `${name}: ${what}`, reading, unit: 'ms', digits: 1, judged }
}
