import assert from 'node:assert/strict'
import type { Browser } from '@berth/contracts/browsers'
import { Cdp } from '../arms/cdp.ts'
import { Page } from '../arms/page.ts'
import type { SessionRequest, SessionServer } from '../arms/session-server.ts'
import { whyNoSessions } from '../arms/session-servers.ts'
import { compare, type Measuring } from '../measure/compare.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import type { ProcessRow } from './row.ts'
import { LONG_TIMEOUT_SECONDS, Slumber } from './slumber.ts'

const GOAL = atMost(10, 2)

export const wakeRow: ProcessRow = {
  number: 16,
  title: 'First command after standby, against a session that is awake',
  whySkipped: whyNoSessions,
  async *measureProcesses({ servers }, measuring) {
    const { effort } = measuring
    const server = await servers.one({})
    const sleepers: Sleeper[] = []
    for (let made = 0; made < effort.sleepers; made++) sleepers.push(await Sleeper.make(server))
    const awake = await Sleeper.make(server)
    const held = await Page.open(awake.url)
    const rounds = [
      { seconds: effort.frozenSeconds, pairs: effort.wakePairs, warmUps: Math.min(1, effort.warmUps) },
      { seconds: effort.longFrozenSeconds, pairs: effort.longWakePairs, warmUps: 0 },
    ]
    for (const { seconds, pairs, warmUps } of rounds.filter((round) => round.pairs > 0)) {
      const name = `New connection after ${seconds} s frozen`
      yield await compare(
        {
          arms: { ours: wakeBlock(sleepers, seconds), baseline: () => awake.connect() },
          pairs,
          metrics: [
            { ...line(`${name}: first command, added`, 'firstMs'), goal: GOAL },
            line(`${name}: page state read, added`, 'stateMs'),
          ],
        },
        { ...measuring, effort: { ...effort, warmUps, repeats: seconds > 60 ? 0 : effort.repeats } },
      )
    }
    await held.close()
    for (const sleeper of [...sleepers, awake]) await sleeper.end()
    yield* onSameSocket(server, measuring)
    await server.settled()
  },
}

function line(name: string, reading: string): Metric {
  return { row: 16, name, reading, unit: 'ms', digits: 2, judged: 'difference' }
}

/** A session whose page remembers something. */
class Sleeper {
  readonly #server: SessionServer
  readonly #browser: Browser
  #slumber: Slumber

  constructor(server: SessionServer, browser: Browser, slumber: Slumber) {
    this.#server = server
    this.#browser = browser
    this.#slumber = slumber
  }

  static async make(server: SessionServer): Promise<Sleeper> {
    const browser = await server.create({ headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS })
    const page = await Page.open(browser.cdp_ws_url)
    await page.evaluate(`globalThis.kept = ${JSON.stringify(browser.session_id)}`)
    await page.close()
    return new Sleeper(server, browser, await Slumber.begin(server, browser))
  }

  get url(): string {
    return this.#browser.cdp_ws_url
  }

  async sleep(seconds: number): Promise<void> {
    await this.#slumber.lasts(seconds)
  }

  /** Until the first answer of the browser, and until its page has told what it remembers. */
  async connect() {
    const startedAt = performance.now()
    const cdp = await Cdp.open(this.url)
    await cdp.call('Browser.getVersion')
    const firstMs = performance.now() - startedAt
    const page = await Page.attach(cdp)
    assert.equal(await page.evaluate('globalThis.kept'), this.#browser.session_id)
    const stateMs = performance.now() - startedAt
    await page.close()
    this.#slumber = await Slumber.begin(this.#server, this.#browser)
    return { firstMs, stateMs }
  }

  async end(): Promise<void> {
    await this.#server.delete(this.#browser)
  }
}

/** Each in its turn, so that most of the waiting is done side by side. */
function wakeBlock(sleepers: Sleeper[], seconds: number): Block {
  return async () => {
    const sleeper = sleepers.shift()!
    await sleeper.sleep(seconds)
    const readings = await sleeper.connect()
    sleepers.push(sleeper)
    return readings
  }
}

/** Sessions that asked for standby under open sockets: the command itself wakes them. */
async function* onSameSocket(server: SessionServer, measuring: Measuring) {
  const { effort } = measuring
  const request: SessionRequest = {
    headless: true,
    timeout_seconds: LONG_TIMEOUT_SECONDS,
    standby_after_seconds: effort.standbyAfterSeconds,
  }
  const answer = await server.tryCreate(request)
  if (answer.status === 400) {
    const { message } = JSON.parse(answer.text) as { message: string }
    const reason = `the same socket after standby: standby_after_seconds is not built (${message})`
    yield { results: [], samples: [], skipped: [reason] }
    return
  }
  assert.equal(answer.status, 200, answer.text)
  const sleepers = [await connected(server, JSON.parse(answer.text) as Browser)]
  while (sleepers.length < effort.sleepers)
    sleepers.push(await connected(server, await server.create(request)))
  const awake = await connected(
    server,
    await server.create({ headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS }),
  )
  const name = 'Same socket after standby'
  yield await compare(
    {
      arms: {
        ours: async () => {
          const sleeper = sleepers.shift()!
          await sleeper.slumber.lasts(effort.frozenSeconds)
          const readings = await ask(sleeper)
          sleepers.push({ ...sleeper, slumber: await Slumber.begin(server, sleeper.browser) })
          return readings
        },
        baseline: () => ask(awake),
      },
      pairs: effort.wakePairs,
      metrics: [
        { ...line(`${name}: first command, added`, 'firstMs'), goal: GOAL },
        line(`${name}: page state read, added`, 'stateMs'),
      ],
    },
    { ...measuring, effort: { ...effort, warmUps: Math.min(1, effort.warmUps) } },
  )
  for (const { page, browser } of [...sleepers, awake]) {
    await page.close()
    await server.delete(browser)
  }
}

interface Connected {
  readonly browser: Browser
  readonly page: Page
  readonly slumber: Slumber
}

async function connected(server: SessionServer, browser: Browser): Promise<Connected> {
  const page = await Page.open(browser.cdp_ws_url)
  await page.evaluate('globalThis.kept = 42')
  return { browser, page, slumber: await Slumber.begin(server, browser) }
}

async function ask({ page }: Connected) {
  const startedAt = performance.now()
  await page.cdp.call('Browser.getVersion')
  const firstMs = performance.now() - startedAt
  assert.equal(await page.evaluate('globalThis.kept'), 42)
  return { firstMs, stateMs: performance.now() - startedAt }
}
