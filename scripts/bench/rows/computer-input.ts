// Clicks and typing on a headful session, until the page has seen them: by the API, and by a program that
// is spawned for each.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import { BareChromium } from '../arms/bare-chromium.ts'
import { Page } from '../arms/page.ts'
import type { SessionServer } from '../arms/session-server.ts'
import { whyNoHeadfulSessions } from '../arms/session-servers.ts'
import { runOn, whyNoProgram } from '../arms/spawned.ts'
import { compare } from '../measure/compare.ts'
import { atMost, type Goal, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { median } from '../measure/statistics.ts'
import type { ProcessRow } from './row.ts'

/**
 * Before each action, in both arms: what Chromium still paints of the last one is on the same core, and agents
 * think between two actions.
 */
const REST_MS = 100
const [X, Y] = [700, 600]
const WORD = 'hello'
const LONG_TEXT = Array.from({ length: 500 }, (_none, index) =>
  String.fromCodePoint(97 + ((index * 7) % 26)),
).join('')

/** All of it is one field, which counts what it gets. */
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

/** What is done, and what the page has then seen. */
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
  title: 'A click and typing until the page has seen them, against spawning xdotool',
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
    // The first click of each also gives the field the focus.
    await actOnce(oursPage, actions[0]!, actOurs)
    await actOnce(barePage, actions[0]!, actBare)
    await assertOrder(oursPage, server, browser)
    await Promise.all([server.settled({ sessions: 1 }), chromium.settled(effort)])
    for (const action of actions) {
      yield await compare(
        {
          arms: {
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
  title: 'A click and typing by the API, against a request that does nothing',
  whySkipped: whyNoHeadfulSessions,
  async *measureProcesses({ servers }, measuring) {
    const { effort } = measuring
    const server = await servers.one({})
    const browser = await server.create({ headless: false })
    const page = await openPage(browser.cdp_ws_url)
    await server.settled({ sessions: 1 })
    for (const action of actions) {
      const act = () => server.control(browser, action.ours.operation, action.ours.body)
      const arms = (count: number) => ({
        ours: answerBlock(act, count),
        baseline: answerBlock(() => server.nothing(), count),
      })
      yield await compare(
        {
          arms: arms(effort.inputsPerBlock),
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
  /** The stamp that the X server gave the last event of it, to the millisecond. */
  readonly madeMs: number
  readonly seenMs: number
  readonly doneMs: number
}

async function actOnce<T>(page: Page, action: Action, act: (action: Action) => Promise<T>): Promise<Acted> {
  // Ready to see it before it is done.
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

/** 500 characters without a delay, exactly as they were sent. */
async function assertOrder(page: Page, server: SessionServer, browser: Browser): Promise<void> {
  await page.evaluate(`field.value = ''`)
  await server.control(browser, 'computer/type', { text: LONG_TEXT, delay: 0 })
  await page.until('field.value.length', LONG_TEXT.length)
  assert.equal(await page.evaluate('field.value'), LONG_TEXT)
}
