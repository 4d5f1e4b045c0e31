// How much the first page of the dashboard loads, and when it can be used. The browser has none of its files yet.
import type { BrowserContext, Page } from 'playwright-core'
import { addPastSessions } from '../../../tests/dashboard/fixtures-lists.ts'
import { DESKTOP } from '../../../tests/dashboard/person.ts'
import { onFreeCores } from '../measure/cores.ts'
import { atMost, type Readings } from '../measure/metric.ts'
import { judgeValues } from '../measure/values.ts'
import { startDashboard, type Dashboard } from '../subjects/dashboard.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import type { ProcessRow } from './row.ts'

const PAST_SESSIONS = 500
const BYTES = 1_000

/** Tells when the data of the overview is there, and when the palette that a key opened has been painted. */
const STOPWATCH = `new MutationObserver((_changes, observer) => {
  if (!window.shownMs && document.querySelector('.big.number')) berthShown(window.shownMs = performance.now())
  if (!document.querySelector('.palette')) return
  observer.disconnect()
  requestAnimationFrame(() => setTimeout(() => berthAnswered(performance.now())))
}).observe(document, { childList: true, subtree: true })`

export const dashboardLoadRow: ProcessRow = {
  number: 41,
  title: 'Dashboard: first load of the overview, until it shows its data and answers a key',
  whySkipped: whyNoSessions,
  async *measureProcesses({ cleanup, cores }, { effort, signal }) {
    const readings = await onFreeCores(
      cores,
      () => [],
      async () => {
        const dashboard = await startDashboard(cleanup)
        await addPastSessions(dashboard.server, { count: PAST_SESSIONS })
        const loads: Readings[] = []
        for (let load = -effort.warmUps; load < effort.pageLoads; load++) {
          signal.throwIfAborted()
          const reading = await loadOnce(dashboard)
          if (load >= 0) loads.push(reading)
        }
        return loads
      },
    )
    yield judgeValues(
      [
        {
          ...line('files of the first page with its chart'),
          reading: 'kilobytes',
          unit: 'kB',
          digits: 1,
          goal: atMost(250),
        },
        { ...line('overview shows its data'), reading: 'shownMs', unit: 'ms', digits: 0 },
        {
          ...line('overview answers a key'),
          reading: 'answeredMs',
          unit: 'ms',
          digits: 0,
          goal: atMost(1_000),
        },
      ],
      readings,
    )
  },
}

/** In a context of its own, which has the cookie of the other and an empty cache. */
async function loadOnce({ browser, context, server }: Dashboard): Promise<Readings> {
  const own = await browser.newContext({ viewport: DESKTOP, storageState: await context.storageState() })
  try {
    const page = await own.newPage()
    const loaded = await bytesOf(own, page)
    const shown = Promise.withResolvers<number>()
    const answered = Promise.withResolvers<number>()
    await page.exposeFunction('berthShown', (ms: number) => {
      shown.resolve(ms)
      void page.keyboard.press('Control+k').catch(answered.reject)
    })
    await page.exposeFunction('berthAnswered', answered.resolve)
    await page.addInitScript(STOPWATCH)
    await page.goto(`${server.url}/dashboard`, { waitUntil: 'commit' })
    const [shownMs, answeredMs] = await Promise.all([shown.promise, answered.promise])
    await page.locator('.chart canvas').waitFor()
    return { shownMs, answeredMs, kilobytes: loaded() / BYTES }
  } finally {
    await own.close()
  }
}

/** Counts the dashboard's own files as they are transferred, compressed and with their headers. */
async function bytesOf(context: BrowserContext, page: Page): Promise<() => number> {
  const client = await context.newCDPSession(page)
  const files = new Set<string>()
  let bytes = 0
  client.on('Network.responseReceived', ({ requestId, response }) => {
    if (new URL(response.url).pathname.startsWith('/dashboard')) files.add(requestId)
  })
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (files.has(requestId)) bytes += encodedDataLength
  })
  await client.send('Network.enable')
  return () => bytes
}

const line = (what: string) => ({ row: 41, name: `Dashboard: ${what}` })
