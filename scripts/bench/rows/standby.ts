import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import { BareChromium } from '../arms/bare-chromium.ts'
import { Page } from '../arms/page.ts'
import { whyNoSessions } from '../arms/session-servers.ts'
import { judge } from '../measure/judge.ts'
import { atMost, type Metric, type Pair } from '../measure/metric.ts'
import { cpuMsOf } from '../measure/processes.ts'
import type { ProcessRow } from './row.ts'
import { LONG_TIMEOUT_SECONDS, Slumber } from './slumber.ts'

/** What a bare Chromium does after its start is not its idle time. */
const SETTLE_MS = 20_000
const FROZEN_SECONDS = 0.5

export const standbyRow: ProcessRow = {
  number: 15,
  title: 'CPU of sessions on standby, against idle bare Chromiums',
  whySkipped: whyNoSessions,
  async *measureProcesses({ cleanup, cores, servers }, { effort, signal }) {
    const server = await servers.one({})
    const browsers: Browser[] = []
    const slumbers: Slumber[] = []
    const chromiums: BareChromium[] = []
    for (let made = 0; made < effort.standbySessions; made++) {
      const browser = await server.create({ headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS })
      const chromium = await BareChromium.start(cleanup, { cores: cores.server, isHeadless: true })
      for (const url of [browser.cdp_ws_url, chromium.wsUrl]) await (await Page.open(url)).close()
      slumbers.push(await Slumber.begin(server, browser))
      browsers.push(browser)
      chromiums.push(chromium)
    }
    for (const slumber of slumbers) await slumber.lasts(FROZEN_SECONDS)
    await pause(effort.isJudged ? SETTLE_MS : 0, undefined, { signal })

    // Both at the same time: who does nothing disturbs nobody.
    const pairs: Pair[] = []
    const { instances } = server.processes()
    const inside = [...instances.values()].flat()
    const outside = chromiums.flatMap((chromium) => chromium.pids())
    for (let window = 0; window < effort.standbyWindows; window++) {
      const read = () => ({ all: server.cpuMs(), inside: cpuMsOf(inside), bare: cpuMsOf(outside) })
      const startedAt = performance.now()
      const before = read()
      await pause(effort.standbySeconds * 1000, undefined, { signal })
      const after = read()
      const elapsedMs = performance.now() - startedAt
      const percent = (name: keyof typeof after) => ((after[name] - before[name]) / elapsedMs) * 100
      pairs.push({
        ours: { cpuPercent: percent('all'), insidePercent: percent('inside') },
        baseline: { cpuPercent: percent('bare'), insidePercent: percent('bare') },
      })
    }
    for (const browser of browsers) {
      const page = await Page.open(browser.cdp_ws_url)
      assert.equal(await page.evaluate('1 + 1'), 2)
      await page.close()
      await server.delete(browser)
    }
    for (const chromium of chromiums) await chromium.end()
    await server.settled()
    const metrics: Metric[] = [
      { ...line('with server and database', 'cpuPercent'), goal: atMost(0.05, 0.01) },
      line('the instances alone', 'insidePercent'),
    ]
    const sampled = { clean: pairs, all: pairs, wanted: effort.standbyWindows }
    yield { results: metrics.map((metric) => judge(metric, sampled)), samples: pairs }
  },
}

function line(what: string, reading: string): Metric {
  const name = `CPU of all sessions on standby: ${what}`
  return { row: 15, name, reading, unit: '% of a core', digits: 3, judged: 'ratio' }
}
