// From nothing to a page that computes: a session of ours, or a Chromium spawned for the purpose. Both
// end with the same client at the same point.
import { BareChromium } from '../arms/bare-chromium.ts'
import { Page } from '../arms/page.ts'
import { assertScreenshot } from '../arms/screenshot.ts'
import type { SessionServer } from '../arms/session-server.ts'
import type { Goal, Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import type { ProcessPlace } from './row.ts'

interface Kind {
  readonly isHeadless: boolean
}

/** The server is settled before and after, so that what it does by itself hits neither arm. */
export function createBlock(server: SessionServer, { isHeadless }: Kind): Block {
  return async () => {
    const cpuBefore = server.cpuMs()
    const startedAt = performance.now()
    const browser = await server.create({ headless: isHeadless })
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

export function spawnBlock({ cleanup, cores }: ProcessPlace, { isHeadless }: Kind): Block {
  return async () => {
    const startedAt = performance.now()
    const chromium = await BareChromium.start(cleanup, { cores: cores.server, isHeadless })
    const page = await Page.open(chromium.wsUrl)
    const usableMs = performance.now() - startedAt
    const cpuMs = chromium.cpuMs()
    const shownMs = usableMs + (await screenshotMs(page, { isHeadless }))
    await page.close()
    await chromium.end()
    return { usableMs, cpuMs, shownMs }
  }
}

/** That a browser with a window shows what it has. */
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

/** What is judged, and beside it what the server alone took, and the CPU time until then. */
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
