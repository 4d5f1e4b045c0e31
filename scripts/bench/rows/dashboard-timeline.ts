// A session with many events that somebody opens from the list of sessions. Events come from the oldest on, and the page
// can be used from the first ones on.
import type { Page } from 'playwright-core'
import { manyEvents, storeEvents } from '../../../tests/fixtures/stored-events.ts'
import { createSession, send } from '../../../tests/fixtures/sessions.ts'
import { onFreeCores } from '../measure/cores.ts'
import { atMost, type Readings } from '../measure/metric.ts'
import { judgeValues } from '../measure/values.ts'
import { openPage, startDashboard } from '../subjects/dashboard.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import type { ProcessRow } from './row.ts'

export const dashboardTimelineRow: ProcessRow = {
  number: 43,
  title: 'Dashboard: opens a timeline of 50,000 events',
  whySkipped: whyNoSessions,
  async *measureProcesses({ cleanup, cores }, { effort, signal }) {
    const count = effort.timelineEvents
    const readings = await onFreeCores(
      cores,
      () => [],
      async () => {
        const dashboard = await startDashboard(cleanup)
        const { session_id: id } = await createSession(dashboard.server)
        await send(dashboard.server, 'DELETE', `/browsers/${id}`)
        await storeEvents(dashboard.server, { sessionId: id, events: manyEvents(count) })
        const all: Readings[] = []
        for (let round = -effort.warmUps; round < effort.timelineOpens; round++) {
          signal.throwIfAborted()
          const page = await openPage(dashboard, '/sessions?status=deleted')
          await page.locator('.row-title').first().waitFor()
          const opened = await open(page, { id, count })
          const searchMs = await search(page, count)
          await page.close()
          if (round >= 0) all.push({ ...opened, searchMs })
        }
        return all
      },
    )
    const line = (what: string) => ({
      row: 43,
      name: `Dashboard, timeline of ${count}: ${what}`,
      unit: 'ms',
      digits: 0,
    })
    yield judgeValues(
      [
        { ...line('the first rows'), reading: 'rowsMs' },
        { ...line('opens, and a key opens an event'), reading: 'answeredMs', goal: atMost(1_000) },
        { ...line('all events are there'), reading: 'allMs', goal: atMost(1_000) },
        { ...line('work of the page'), reading: 'workMs' },
        { ...line('a search shows its result'), reading: 'searchMs' },
      ],
      readings,
    )
  },
}

/** As a click on a link does, measured by the page itself until it has painted. */
async function open(page: Page, { id, count }: { id: string; count: number }): Promise<Readings> {
  const client = await page.context().newCDPSession(page)
  await client.send('Performance.enable')
  const workedMs = async () => {
    const { metrics } = await client.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1_000
  }
  const before = await workedMs()
  await page.exposeFunction('berthShown', () => page.keyboard.press('ArrowDown'))
  const opened = await page.evaluate<Readings>(`new Promise((resolve) => {
    const began = performance.now()
    const times = {}
    const painted = (name) => {
      times[name] = 0
      requestAnimationFrame(() => setTimeout(() => {
        times[name] = performance.now() - began
        if (times.answeredMs && times.allMs) resolve(times)
      }))
    }
    const observer = new MutationObserver(() => {
      if (times.rowsMs === undefined && document.querySelector('.event[role=option]')) {
        times.rowsMs = performance.now() - began
        document.querySelector('.events').focus()
        berthShown()
      }
      if (times.answeredMs === undefined && document.querySelector('.event[aria-selected=true]')) painted('answeredMs')
      const shown = document.querySelector('.timeline-count')?.textContent
      if (times.allMs === undefined && shown === '${count.toLocaleString('en')} events') painted('allMs')
      if (times.answeredMs !== undefined && times.allMs !== undefined) observer.disconnect()
    })
    observer.observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true })
    history.pushState(null, '', '/dashboard/sessions/${id}')
    dispatchEvent(new PopStateEvent('popstate'))
  })`)
  return { ...opened, workMs: (await workedMs()) - before }
}

/** From the last letter until the only event that fits is painted. */
async function search(page: Page, count: number): Promise<number> {
  const wanted = count - 2
  await page.getByLabel('Search events').focus()
  await page.evaluate(`(() => {
    window.found = new Promise((resolve) => {
      addEventListener('input', () => {
        const began = performance.now()
        const observer = new MutationObserver(() => {
          if (!document.querySelector('.timeline-count').textContent.startsWith('1 of ')) return
          observer.disconnect()
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)))
        })
        observer.observe(document.body, { childList: true, subtree: true, characterData: true })
      }, { once: true, capture: true })
    })
  })()`)
  await page.keyboard.insertText(`line ${wanted}`)
  return page.evaluate<number>('window.found')
}
