// What a dashboard that somebody left open costs the server. All sessions are awake and their tiles are in sight, which
// takes a window higher than any screen.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import type { Page as PersonsPage } from 'playwright-core'
import { signIn, startBrowser } from '../../../tests/dashboard/person.ts'
import { atMost, type Readings } from '../measure/metric.ts'
import { cpuMsOf } from '../measure/processes.ts'
import { judgeValues } from '../measure/values.ts'
import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import type { ProcessRow } from './row.ts'
import { LONG_TIMEOUT_SECONDS } from './standby-watch.ts'

const CREATES_AT_ONCE = 4
/** One in five shows something new each second. */
const CHANGING_SHARE = 0.2
const SETTLE_MS = 10_000
const WAIT_TIMEOUT_MS = 30_000
const CLOCK = 'document.body.textContent = "0"; setInterval(() => document.body.textContent++, 1000)'

interface Watched {
  readonly browser: Browser
  readonly page: Page
}

export const dashboardWatchRow: ProcessRow = {
  number: 44,
  title: 'Server CPU of a dashboard that is left open on 50 sessions',
  whySkipped: whyNoSessions,
  async *measureProcesses({ cleanup, servers }, { effort, signal }) {
    const count = effort.watchedSessions
    const server = await servers.one({})
    const sessions = await createAll(server, count)
    for (const { page } of sessions.slice(0, Math.ceil(count * CHANGING_SHARE))) await page.evaluate(CLOCK)
    const person = await startBrowser(cleanup)
    const key = readFileSync(join(server.dataDir, 'api-key'), 'utf8').trim()
    const { page } = await signIn(person, {
      url: server.url,
      key,
      options: { viewport: { width: 1280, height: 600 + count * 80 } },
    })
    const readings: Readings[] = []
    for (let window = 0; window < effort.dashboardWindows; window++) {
      // Nobody follows anything while the page is elsewhere.
      await page.goto('about:blank')
      const closed = await cpuPercents(server, { effort, signal })
      await page.goto(`${server.url}/dashboard`)
      await allTilesShown(page, count)
      const open = await cpuPercents(server, { effort, signal })
      readings.push({
        server: open.server - closed.server,
        database: open.database - closed.database,
        both: open.server + open.database - closed.server - closed.database,
        instances: open.instances - closed.instances,
      })
    }
    for (const { browser, page: own } of sessions) {
      await own.close()
      await server.delete(browser)
    }
    await server.settled()
    const line = (what: string, reading: string) => ({
      row: 44,
      name: `Dashboard open on ${count} sessions: ${what}`,
      reading,
      unit: '% of a core',
      digits: 2,
    })
    yield judgeValues(
      [
        { ...line('server and database', 'both'), goal: atMost(5) },
        line('the server alone', 'server'),
        line('the database alone', 'database'),
        line('the instances, which take the pictures', 'instances'),
      ],
      readings,
    )
  },
}

/** Each with a silent client, because it would go on standby without one. */
async function createAll(server: SessionServer, count: number): Promise<Watched[]> {
  const sessions: Watched[] = []
  let left = count
  const create = async () => {
    while (left-- > 0) {
      const browser = await server.create({ headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS })
      sessions.push({ browser, page: await Page.open(browser.cdp_ws_url) })
    }
  }
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, create))
  return sessions
}

async function allTilesShown(page: PersonsPage, count: number): Promise<void> {
  await page
    .locator('.tile img')
    .nth(count - 1)
    .waitFor({ timeout: WAIT_TIMEOUT_MS })
  assert.equal(await page.locator('.tile img').count(), count)
}

interface Percents {
  readonly server: number
  readonly database: number
  readonly instances: number
}

async function cpuPercents(
  server: SessionServer,
  { effort, signal }: { effort: { isJudged: boolean; dashboardWindowSeconds: number }; signal: AbortSignal },
): Promise<Percents> {
  await pause(effort.isJudged ? SETTLE_MS : 0, undefined, { signal })
  const { daemon, postgres, instances } = server.processes()
  const parts = { server: daemon, database: postgres, instances: [...instances.values()].flat() }
  const read = () =>
    Object.fromEntries(Object.entries(parts).map(([name, pids]) => [name, cpuMsOf(pids)])) as Record<
      keyof Percents,
      number
    >
  const [startedAt, before] = [performance.now(), read()]
  await pause(effort.dashboardWindowSeconds * 1_000, undefined, { signal })
  const elapsedMs = performance.now() - startedAt
  const after = read()
  const percent = (name: keyof Percents) => ((after[name] - before[name]) / elapsedMs) * 100
  return { server: percent('server'), database: percent('database'), instances: percent('instances') }
}
