import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import { BareChromium } from '../subjects/bare-chromium.ts'
import { Page } from '../subjects/page.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { judge } from '../measure/judge.ts'
import { atMost, type Metric, type Pair } from '../measure/metric.ts'
import { cpuMsOf } from '../measure/processes.ts'
import type { ProcessRow } from './row.ts'
import { LONG_TIMEOUT_SECONDS, StandbyWatch } from './standby-watch.ts'

/** Chromium's work after its start must not count as idle time. */
const SETTLE_MS = 20_000
const FROZEN_SECONDS = 0.5

export const standbyRow: ProcessRow = {
  number: 15,
  title: 'CPU of sessions on standby, against idle bare Chromiums',
  whySkipped: whyNoSessions,
  async *measureProcesses({ cleanup, cores, servers }, { effort, signal }) {
    const server = await servers.one({})
    const windowMs = effort.standbySeconds * 1000
    const atRest = await cpuPercent(() => server.cpuMs(), { ms: windowMs * effort.standbyWindows, signal })
    const browsers: Browser[] = []
    const watches: StandbyWatch[] = []
    const chromiums: BareChromium[] = []
    for (let made = 0; made < effort.standbySessions; made++) {
      const browser = await server.create({ headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS })
      const chromium = await BareChromium.start(cleanup, { cores: cores.server, isHeadless: true })
      for (const url of [browser.cdp_ws_url, chromium.wsUrl]) await (await Page.open(url)).close()
      watches.push(await StandbyWatch.begin(server, browser))
      browsers.push(browser)
      chromiums.push(chromium)
    }
    for (const watch of watches) await watch.lasts(FROZEN_SECONDS)
    await pause(effort.isJudged ? SETTLE_MS : 0, undefined, { signal })

    // Both at the same time, because idle processes do not disturb each other.
    const pairs: Pair[] = []
    const { instances } = server.processes()
    const inside = [...instances.values()].flat()
    const outside = chromiums.flatMap((chromium) => chromium.pids())
    for (let window = 0; window < effort.standbyWindows; window++) {
      const [all, instancesAlone, bare] = await Promise.all(
        [() => server.cpuMs(), () => cpuMsOf(inside), () => cpuMsOf(outside)].map((read) =>
          cpuPercent(read, { ms: windowMs, signal }),
        ),
      )
      pairs.push({
        ours: { added: Math.max(0, all! - atRest), all: all!, instancesAlone: instancesAlone! },
        baseline: { added: bare!, all: bare!, instancesAlone: bare! },
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
      { ...line('with what they cost server and database', 'added'), goal: atMost(0.05, 0.01) },
      line('the instances alone', 'instancesAlone'),
      line('with all of server and database', 'all'),
    ]
    const sampled = { clean: pairs, all: pairs, wanted: effort.standbyWindows }
    yield { results: metrics.map((metric) => judge(metric, sampled)), samples: pairs }
  },
}

async function cpuPercent(
  readMs: () => number,
  { ms, signal }: { ms: number; signal: AbortSignal },
): Promise<number> {
  const [startedAt, before] = [performance.now(), readMs()]
  await pause(ms, undefined, { signal })
  return ((readMs() - before) / (performance.now() - startedAt)) * 100
}

function line(what: string, reading: string): Metric {
  const name = `CPU of all sessions on standby: ${what}`
  return { row: 15, name, reading, unit: '% of a core', digits: 3, judged: 'ratio' }
}
