// Memory of an idle session, including everything around it. The two sides run one after the other: side by side,
// they would share pages of Chromium's files, and those would count half.
import { setTimeout as pause } from 'node:timers/promises'
import { BareChromium } from '../subjects/bare-chromium.ts'
import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoHeadfulSessions } from '../subjects/session-servers.ts'
import { compare, type Measuring } from '../measure/compare.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { commandOf, pssBytesOf } from '../measure/processes.ts'
import { agentOf } from './agent-of.ts'
import type { ProcessPlace, ProcessRow } from './row.ts'

const MEBIBYTE = 1024 * 1024

export const memoryRow: ProcessRow = {
  number: 13,
  title: 'Memory of idle sessions, against bare Chromiums',
  whySkipped: whyNoHeadfulSessions,
  async *measureProcesses(place, measuring) {
    const server = await place.servers.one({})
    // One warm-up loads what the server loads at its first session; a round takes most of a minute.
    const effort = { ...measuring.effort, warmUps: Math.min(1, measuring.effort.warmUps) }
    for (const isHeadless of [true, false]) {
      const name = `Idle ${isHeadless ? 'headless' : 'headful'} session`
      yield await compare(
        {
          blocks: {
            ours: sessionsBlock(server, isHeadless, measuring),
            baseline: bareBlock(place, isHeadless, measuring),
          },
          pairs: effort.memoryPairs,
          metrics: [
            { ...line(name, 'PSS', 'pssMb'), goal: isHeadless ? atMost(1.12, 1) : atMost(1.15, 1) },
            line(name, 'PSS of Chromium', 'chromiumMb'),
            { ...line(name, 'PSS of the agent', 'agentMb'), judged: 'value', isOursOnly: true },
            { ...line(name, 'growth of server and database', 'growthMb'), judged: 'value', isOursOnly: true },
          ],
        },
        { ...measuring, effort },
      )
    }
  },
}

function line(name: string, what: string, reading: string): Metric {
  return { row: 13, name: `${name}: ${what}`, reading, unit: 'MB', digits: 1, judged: 'ratio' }
}

/** Each session has a silent client; without one, ours would go on standby and the bare Chromiums would not. */
function sessionsBlock(server: SessionServer, isHeadless: boolean, measuring: Measuring): Block {
  const { memorySessions: count, memorySettleSeconds } = measuring.effort
  return async () => {
    const before = server.processes()
    const growthOf = ({ daemon, postgres } = server.processes()) => pssBytesOf([...daemon, ...postgres])
    const restBytes = growthOf(before)
    const browsers = []
    const pages: Page[] = []
    for (let made = 0; made < count; made++) {
      const browser = await server.create({ headless: isHeadless })
      browsers.push(browser)
      pages.push(await Page.open(browser.cdp_ws_url))
    }
    await pause(memorySettleSeconds * 1000, undefined, { signal: measuring.signal })
    const { warden, instances } = server.processes()
    const inside = [...instances.values()].flat()
    const growthBytes = growthOf() - restBytes
    const readings = {
      pssMb: (pssBytesOf([...inside, ...warden]) + growthBytes) / count / MEBIBYTE,
      chromiumMb: chromiumBytes(inside) / count / MEBIBYTE,
      agentMb: pssBytesOf([...instances.values()].map(agentOf)) / count / MEBIBYTE,
      growthMb: growthBytes / count / MEBIBYTE,
    }
    await Promise.all(pages.map((page) => page.close()))
    for (const browser of browsers) await server.delete(browser)
    await server.settled()
    return readings
  }
}

function bareBlock({ cleanup, cores }: ProcessPlace, isHeadless: boolean, measuring: Measuring): Block {
  const { memorySessions: count, memorySettleSeconds } = measuring.effort
  return async () => {
    const chromiums: BareChromium[] = []
    const pages: Page[] = []
    for (let made = 0; made < count; made++) {
      const chromium = await BareChromium.start(cleanup, { cores: cores.server, isHeadless })
      chromiums.push(chromium)
      pages.push(await Page.open(chromium.wsUrl))
    }
    await pause(memorySettleSeconds * 1000, undefined, { signal: measuring.signal })
    const pids = chromiums.flatMap((chromium) => chromium.pids())
    const readings = {
      pssMb: pssBytesOf(pids) / count / MEBIBYTE,
      chromiumMb: chromiumBytes(pids) / count / MEBIBYTE,
    }
    await Promise.all(pages.map((page) => page.close()))
    for (const chromium of chromiums) await chromium.end()
    return readings
  }
}

function chromiumBytes(pids: readonly number[]): number {
  return pssBytesOf(pids.filter((pid) => commandOf(pid).startsWith('/usr/lib/chromium/')))
}
