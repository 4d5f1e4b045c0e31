// A list of ten thousand sessions that somebody scrolls and filters, after all of it was read.
import type { Page } from 'playwright-core'
import { addPastSessions } from '../../../tests/dashboard/fixtures-lists.ts'
import { query } from '../../../tests/fixtures/sessions.ts'
import { onFreeCores } from '../measure/cores.ts'
import { atLeast, atMost, type Readings } from '../measure/metric.ts'
import { judgeValues } from '../measure/values.ts'
import { openPage, startDashboard, type Dashboard } from '../subjects/dashboard.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import type { ProcessRow } from './row.ts'

/** As a person turns a wheel quickly. */
const PIXELS_PER_SECOND = 4_000
const PLAIN_ROWS = 2_000

export const dashboardListRow: ProcessRow = {
  number: 42,
  title: 'Dashboard: scrolls and filters a list of 10,000 sessions',
  whySkipped: whyNoSessions,
  async *measureProcesses({ cleanup, cores }, { effort, signal }) {
    const count = effort.listedSessions
    const readings = await onFreeCores(
      cores,
      () => [],
      async () => {
        const dashboard = await startDashboard(cleanup)
        await addPastSessions(dashboard.server, { count })
        await query(dashboard.server, 'ANALYZE browsers')
        const page = await openPage(dashboard, '/sessions?status=deleted')
        await readToTheEnd(page)
        const plain = await plainPage(dashboard)
        const scrolled: Readings[] = []
        for (let round = -1; round < effort.scrolls; round++) {
          signal.throwIfAborted()
          const { fps: plainFps } = await scroll(plain, effort.scrollSeconds)
          await page.bringToFront()
          const reading = { ...(await scroll(page, effort.scrollSeconds)), plainFps }
          await plain.bringToFront()
          if (round >= 0) scrolled.push(reading)
        }
        await page.bringToFront()
        const all: Readings[] = []
        for (const [round, reading] of scrolled.entries()) {
          signal.throwIfAborted()
          // What it finds was not read before.
          all.push({ ...reading, filterMs: await filter(page, `past-${count - 100 - round * 7}`) })
        }
        return all
      },
    )
    const line = (what: string) => ({ row: 42, name: `Dashboard, list of ${count}: ${what}` })
    yield judgeValues(
      [
        { ...line('scrolling'), reading: 'fps', unit: 'frames/s', digits: 1, goal: atLeast(50) },
        { ...line('scrolling a plain page instead'), reading: 'plainFps', unit: 'frames/s', digits: 1 },
        { ...line('longest frame'), reading: 'longestMs', unit: 'ms', digits: 0 },
        { ...line('frames with rows missing'), reading: 'gapsPercent', unit: '%', digits: 1 },
        {
          ...line('a filter shows its result'),
          reading: 'filterMs',
          unit: 'ms',
          digits: 0,
          goal: atMost(200),
        },
      ],
      readings,
    )
  },
}

/** A person who scrolls on has all rows in the page in the end. */
async function readToTheEnd(page: Page): Promise<void> {
  await page.getByText('past-1', { exact: true }).or(page.locator('.table-body')).first().waitFor()
  await page.evaluate(`new Promise((resolve) => {
    const body = document.querySelector('.table-body')
    const look = () => {
      const names = [...document.querySelectorAll('.row-title > span')].map((each) => each.textContent)
      if (names.includes('past-1')) return resolve()
      body.scrollTo({ top: body.scrollHeight })
      requestAnimationFrame(look)
    }
    look()
  })`)
}

/** The most that this machine can show: rows that are there already, of nothing but text. */
async function plainPage({ context }: Dashboard): Promise<Page> {
  const page = await context.newPage()
  const rows = Array.from(
    { length: PLAIN_ROWS },
    (_, index) => `<p data-index="${index}" style="height: 48px; margin: 0">past-${index}</p>`,
  )
  await page.setContent(
    `<div class="table-body" style="height: 640px; overflow-y: scroll">${rows.join('')}</div>`,
  )
  return page
}

interface Scrolled {
  readonly fps: number
  readonly longestMs: number
  readonly gapsPercent: number
}

/** The compositor scrolls by itself, so a frame counts only when the page took part in it and has drawn the rows in sight. */
async function scroll(page: Page, seconds: number): Promise<Scrolled & Readings> {
  await page.evaluate(`(() => {
    const body = document.querySelector('.table-body')
    body.scrollTo({ top: body.scrollHeight / 2 })
    const height = body.querySelector('[data-index]').offsetHeight
    const seen = (window.seenFrames = { began: 0, last: 0, count: 0, longestMs: 0, gaps: 0, isOver: false })
    const frame = (now) => {
      if (seen.isOver) return
      if (seen.last) {
        seen.count++
        seen.longestMs = Math.max(seen.longestMs, now - seen.last)
      } else seen.began = now
      seen.last = now
      const rows = body.querySelectorAll('[data-index]')
      const from = Math.floor(body.scrollTop / height)
      const to = Math.floor((body.scrollTop + body.clientHeight - 1) / height)
      if (Number(rows[0].dataset.index) > from || Number(rows[rows.length - 1].dataset.index) < to) seen.gaps++
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })()`)
  const { x, y, width, height } = (await page.locator('.table-body').boundingBox())!
  const client = await page.context().newCDPSession(page)
  await client.send('Input.synthesizeScrollGesture', {
    x: x + width / 2,
    y: y + height / 2,
    yDistance: -PIXELS_PER_SECOND * seconds,
    speed: PIXELS_PER_SECOND,
    gestureSourceType: 'mouse',
  })
  await client.detach()
  return page.evaluate<Scrolled & Readings>(`(() => {
    const seen = window.seenFrames
    seen.isOver = true
    return {
      fps: seen.count / ((seen.last - seen.began) / 1000),
      longestMs: seen.longestMs,
      gapsPercent: (seen.gaps / seen.count) * 100,
    }
  })()`)
}

/** From the last letter until the page has painted the only row that fits. Clears the filter again. */
async function filter(page: Page, name: string): Promise<number> {
  const field = page.getByRole('searchbox')
  await field.focus()
  await page.evaluate(`(() => {
    window.found = new Promise((resolve) => {
      addEventListener('input', () => {
        const began = performance.now()
        const observer = new MutationObserver(() => {
          const names = document.querySelectorAll('.row-title > span')
          if (names.length !== 1 || names[0].textContent !== ${JSON.stringify(name)}) return
          observer.disconnect()
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)))
        })
        observer.observe(document.body, { childList: true, subtree: true, characterData: true })
      }, { once: true, capture: true })
    })
  })()`)
  await page.keyboard.insertText(name)
  const tookMs = await page.evaluate<number>('window.found')
  await field.fill('')
  await page.locator('.table-body [data-index="10"]').waitFor()
  return tookMs
}
