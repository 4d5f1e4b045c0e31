// Clicks and typing in a headful session until the page sees them: through the API, and with a program spawned for
// each action.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import { BareChromium } from '../subjects/bare-chromium.ts'
import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoHeadfulSessions } from '../subjects/session-servers.ts'
import { runOn, whyNoProgram } from '../subjects/spawned.ts'
import { compare } from '../measure/compare.ts'
import { atMost, type Goal, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { median } from '../measure/statistics.ts'
import type { ProcessRow } from './row.ts'

/**
 * Pause before each action, on both sides: Chromium may still paint the last action on the same core, and
 * agents think between actions.
 */
const REST_MS = 100
const [X, Y] = [700, 600]
const WORD = 'hello'
const LONG_TEXT = Array.from({ length: 500 }, (_none, index) =>
  String.fromCodePoint(97 + ((index * 7) % 26)),
).join('')

/** One large text field that records its events. */
const PAGE = `<!doctype html><title>Input</title><style>body { margin: 0 }
  textarea { width: 100vw; height: 95vh }</style><textarea autofocus></textarea>
  <script>
    const field = document.querySelector('textarea')
    let clicks = 0
    let made = 0
    let wake = () => {}
    const mark = (event) => { made = performance.timeOrigin + event.timeStamp }
    field.onmouseup = (event) => { clicks++; mark(event); wake() }
    field.onkeydown = mark
    field.oninput = () => wake()
    const when = (isTrue) => new Promise((resolve) => {
      wake = () => { if (isTrue()) resolve(made) }
      wake()
    })
  </script>`

/** An action, and how the page shows that it happened. */
interface Action {
  readonly name: string
  readonly isSeen: string
  readonly ours: { readonly operation: string; readonly body: object }
  readonly xdotool: readonly string[]
}

const actions: readonly Action[] = [
  {
    name: 'Click',
    isSeen: 'clicks === 1',
    ours: { operation: 'computer/click_mouse', body: { x: X, y: Y } },
    xdotool: ['mousemove', String(X), String(Y), 'click', '1'],
  },
  {
    name: `Type ${WORD.length} characters`,
    isSeen: `field.value === '${WORD}'`,
    ours: { operation: 'computer/type', body: { text: WORD, delay: 0 } },
    xdotool: ['type', '--delay', '0', '--', WORD],
  },
]

const whySkipped = () => whyNoHeadfulSessions() ?? whyNoProgram('xdotool')

export const computerInputRow: ProcessRow = {
  number: 23,
  title: 'Click and typing until the page sees them, against spawning xdotool',
  whySkipped,
  async *measureProcesses({ cleanup, cores, servers }, measuring) {
    const { effort } = measuring
    const server = await servers.one({})
    const browser = await server.create({ headless: false })
    const chromium = await BareChromium.start(cleanup, { cores: cores.server, isHeadless: false })
    const [oursPage, barePage] = [await openPage(browser.cdp_ws_url), await openPage(chromium.wsUrl)]
    const place = { display: chromium.display, cores: cores.server }
    const actOurs = ({ ours }: Action) => server.control(browser, ours.operation, ours.body)
    const actBare = ({ xdotool }: Action) => runOn(place, 'xdotool', xdotool)
    // The first click also gives the field the focus.
    await actOnce(oursPage, actions[0]!, actOurs)
    await actOnce(barePage, actions[0]!, actBare)
    await assertOrder(oursPage, server, browser)
    await Promise.all([server.settled({ sessions: 1 }), chromium.settled(effort)])
    for (const action of actions) {
      yield await compare(
        {
          blocks: {
            ours: actBlock(oursPage, action, actOurs, effort.inputsPerBlock),
            baseline: actBlock(barePage, action, actBare, effort.inputsPerBlock),
          },
          pairs: effort.inputPairs,
          metrics: [
            line(23, `${action.name}: seen by the page`, 'seenMs', atMost(0.05, 0.02)),
            line(23, `${action.name}: made by the display`, 'madeMs'),
            line(23, `${action.name}: answered, or ended`, 'doneMs'),
          ],
        },
        measuring,
      )
    }
    await Promise.all([oursPage.close(), barePage.close()])
    await server.delete(browser)
    await chromium.end()
  },
}

export const computerOverheadRow: ProcessRow = {
  number: 24,
  title: 'API overhead of a click and of typing, against a request that does nothing',
  whySkipped: whyNoHeadfulSessions,
  async *measureProcesses({ servers }, measuring) {
    const { effort } = measuring
    const server = await servers.one({})
    const browser = await server.create({ headless: false })
    const page = await openPage(browser.cdp_ws_url)
    await server.settled({ sessions: 1 })
    for (const action of actions) {
      const act = () => server.control(browser, action.ours.operation, action.ours.body)
      const blocks = (count: number) => ({
        ours: answerBlock(act, count),
        baseline: answerBlock(() => server.cheapestRequest(), count),
      })
      yield await compare(
        {
          blocks: blocks(effort.inputsPerBlock),
          pairs: effort.inputPairs,
          metrics: [line(24, `${action.name}: answered`, 'p50Ms', atMost(2, 1.3))],
        },
        measuring,
      )
    }
    await page.close()
    await server.delete(browser)
  },
}

function line(row: number, name: string, reading: string, goal?: Goal): Metric {
  return { row, name, reading, unit: 'ms', digits: 2, judged: 'ratio', ...(goal && { goal }) }
}

async function openPage(wsUrl: string): Promise<Page> {
  const page = await Page.open(wsUrl)
  await page.call('Page.navigate', { url: `data:text/html;charset=utf-8,${encodeURIComponent(PAGE)}` })
  await page.until('document.title + document.readyState', 'Inputcomplete')
  return page
}

interface Acted {
  /** The X server's timestamp of the last event, in milliseconds. */
  readonly madeMs: number
  readonly seenMs: number
  readonly doneMs: number
}

async function actOnce<T>(page: Page, action: Action, act: (action: Action) => Promise<T>): Promise<Acted> {
  // The page must wait for the action before it happens.
  await page.evaluate(`clicks = 0; field.value = ''; globalThis.seen = when(() => ${action.isSeen}); 0`)
  await pause(REST_MS)
  const startedAt = performance.now()
  const elapsed = () => performance.now() - startedAt
  const [doneMs, { seenMs, made }] = await Promise.all([
    act(action).then(elapsed),
    page
      .call<{ result: { value: number } }>('Runtime.evaluate', { expression: 'seen', awaitPromise: true })
      .then(({ result }) => ({ seenMs: elapsed(), made: result.value })),
  ])
  return { doneMs, seenMs, madeMs: made - performance.timeOrigin - startedAt }
}

function actBlock<T>(page: Page, action: Action, act: (action: Action) => Promise<T>, count: number): Block {
  return async () => {
    const acted: Acted[] = []
    while (acted.length < count) acted.push(await actOnce(page, action, act))
    return {
      madeMs: median(acted.map(({ madeMs }) => madeMs)),
      seenMs: median(acted.map(({ seenMs }) => seenMs)),
      doneMs: median(acted.map(({ doneMs }) => doneMs)),
    }
  }
}

function answerBlock(ask: () => Promise<{ elapsedMs: number }>, count: number): Block {
  return async () => {
    const elapsedMs: number[] = []
    while (elapsedMs.length < count) {
      await pause(REST_MS)
      elapsedMs.push((await ask()).elapsedMs)
    }
    return { p50Ms: median(elapsedMs), elapsedMs }
  }
}

/** 500 characters without delay must arrive exactly as sent. */
async function assertOrder(page: Page, server: SessionServer, browser: Browser): Promise<void> {
  await page.evaluate(`field.value = ''`)
  await server.control(browser, 'computer/type', { text: LONG_TEXT, delay: 0 })
  await page.until('field.value.length', LONG_TEXT.length)
  assert.equal(await page.evaluate('field.value'), LONG_TEXT)
}
