import assert from 'node:assert/strict'
import type { Browser } from '@berth/contracts/browsers'
import { Cdp } from '../subjects/cdp.ts'
import { Page } from '../subjects/page.ts'
import type { SessionRequest, SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { compare, type Measuring } from '../measure/compare.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import type { ProcessRow } from './row.ts'
import { LONG_TIMEOUT_SECONDS, StandbyWatch } from './standby-watch.ts'

const GOAL = atMost(10, 2)

export const wakeRow: ProcessRow = {
  number: 16,
  title: 'First command after standby, against a session that is awake',
  whySkipped: whyNoSessions,
  async *measureProcesses({ servers }, measuring) {
    const { effort } = measuring
    const server = await servers.one({})
    const sessions: StandbySession[] = []
    for (let made = 0; made < effort.wakeSessions; made++) sessions.push(await StandbySession.make(server))
    const awake = await StandbySession.make(server)
    const held = await Page.open(awake.url)
    const rounds = [
      { seconds: effort.frozenSeconds, pairs: effort.wakePairs, warmUps: Math.min(1, effort.warmUps) },
      { seconds: effort.longFrozenSeconds, pairs: effort.longWakePairs, warmUps: 0 },
    ]
    for (const { seconds, pairs, warmUps } of rounds.filter((round) => round.pairs > 0)) {
      const name = `New connection after ${seconds} s frozen`
      yield await compare(
        {
          blocks: { ours: wakeBlock(sessions, seconds), baseline: () => awake.connect() },
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
    for (const session of [...sessions, awake]) await session.end()
    yield* onSameSocket(server, measuring)
    await server.settled()
  },
}

function line(name: string, reading: string): Metric {
  return { row: 16, name, reading, unit: 'ms', digits: 2, judged: 'difference' }
}

/** A session whose page stores a value. */
class StandbySession {
  readonly #server: SessionServer
  readonly #browser: Browser
  #standbyWatch: StandbyWatch

  constructor(server: SessionServer, browser: Browser, standbyWatch: StandbyWatch) {
    this.#server = server
    this.#browser = browser
    this.#standbyWatch = standbyWatch
  }

  static async make(server: SessionServer): Promise<StandbySession> {
    const browser = await server.create({ headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS })
    const page = await Page.open(browser.cdp_ws_url)
    await page.evaluate(`globalThis.kept = ${JSON.stringify(browser.session_id)}`)
    await page.close()
    return new StandbySession(server, browser, await StandbyWatch.begin(server, browser))
  }

  get url(): string {
    return this.#browser.cdp_ws_url
  }

  async waitOnStandby(seconds: number): Promise<void> {
    await this.#standbyWatch.lasts(seconds)
  }

  /** Measures the time to the browser's first answer, and until its page returns the stored value. */
  async connect() {
    const startedAt = performance.now()
    const cdp = await Cdp.open(this.url)
    await cdp.call('Browser.getVersion')
    const firstMs = performance.now() - startedAt
    const page = await Page.attach(cdp)
    assert.equal(await page.evaluate('globalThis.kept'), this.#browser.session_id)
    const stateMs = performance.now() - startedAt
    await page.close()
    this.#standbyWatch = await StandbyWatch.begin(this.#server, this.#browser)
    return { firstMs, stateMs }
  }

  async end(): Promise<void> {
    await this.#server.delete(this.#browser)
  }
}

/** Takes the sessions in turn, so that most of the waiting happens in parallel. */
function wakeBlock(sessions: StandbySession[], seconds: number): Block {
  return async () => {
    const session = sessions.shift()!
    await session.waitOnStandby(seconds)
    const readings = await session.connect()
    sessions.push(session)
    return readings
  }
}

/** Sessions that go on standby with open sockets; the command itself wakes them. */
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
  const sessions = [await connected(server, JSON.parse(answer.text) as Browser)]
  while (sessions.length < effort.wakeSessions)
    sessions.push(await connected(server, await server.create(request)))
  const awake = await connected(
    server,
    await server.create({ headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS }),
  )
  const name = 'Same socket after standby'
  yield await compare(
    {
      blocks: {
        ours: async () => {
          const session = sessions.shift()!
          await session.standbyWatch.lasts(effort.frozenSeconds)
          const readings = await ask(session)
          sessions.push({ ...session, standbyWatch: await StandbyWatch.begin(server, session.browser) })
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
  for (const { page, browser } of [...sessions, awake]) {
    await page.close()
    await server.delete(browser)
  }
}

interface Connected {
  readonly browser: Browser
  readonly page: Page
  readonly standbyWatch: StandbyWatch
}

async function connected(server: SessionServer, browser: Browser): Promise<Connected> {
  const page = await Page.open(browser.cdp_ws_url)
  await page.evaluate('globalThis.kept = 42')
  return { browser, page, standbyWatch: await StandbyWatch.begin(server, browser) }
}

async function ask({ page }: Connected) {
  const startedAt = performance.now()
  await page.cdp.call('Browser.getVersion')
  const firstMs = performance.now() - startedAt
  assert.equal(await page.evaluate('globalThis.kept'), 42)
  return { firstMs, stateMs: performance.now() - startedAt }
}
