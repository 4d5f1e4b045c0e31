import { existsSync } from 'node:fs'
import { BareChromium } from '../subjects/bare-chromium.ts'
import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { whenGone } from '../measure/alive.ts'
import { compare } from '../measure/compare.ts'
import { atMost, type Goal, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import type { ProcessPlace, ProcessRow } from './row.ts'

export const deleteSessionRow: ProcessRow = {
  number: 7,
  title: 'DELETE of a session, against killing a bare Chromium and removing its profile',
  whySkipped: whyNoSessions,
  async *measureProcesses(place, measuring) {
    const server = await place.servers.one({})
    yield await compare(
      {
        blocks: { ours: deleteBlock(server), baseline: killBlock(place) },
        pairs: measuring.effort.createPairs,
        metrics: [
          line('answered', 'answeredMs', atMost(0.25, 0.1)),
          line('processes and files gone', 'goneMs', atMost(1.5, 1.1)),
        ],
      },
      measuring,
    )
  },
}

function line(what: string, reading: string, goal: Goal): Metric {
  return { row: 7, name: `DELETE: ${what}`, reading, unit: 'ms', digits: 1, judged: 'ratio', goal }
}

function deleteBlock(server: SessionServer): Block {
  return async () => {
    const others = new Set(server.instanceIds())
    const browser = await server.create({ headless: true })
    const page = await Page.open(browser.cdp_ws_url)
    await page.close()
    const id = server.instanceIds().find((each) => !others.has(each))!
    const pids = server.processes().instances.get(id)!
    const startedAt = performance.now()
    const answeredMs = await server.delete(browser)
    await whenGone(pids, () => !existsSync(server.instanceDir(id)))
    const goneMs = performance.now() - startedAt
    await server.settled()
    return { answeredMs, goneMs, processes: pids.length }
  }
}

function killBlock({ cleanup, cores }: ProcessPlace): Block {
  return async () => {
    const chromium = await BareChromium.start(cleanup, { cores: cores.server, isHeadless: true })
    const page = await Page.open(chromium.wsUrl)
    await page.close()
    const pids = chromium.pids()
    const startedAt = performance.now()
    await chromium.end(pids)
    const goneMs = performance.now() - startedAt
    // There is no answer here; the block ends when the processes are gone.
    return { answeredMs: goneMs, goneMs, processes: pids.length }
  }
}
