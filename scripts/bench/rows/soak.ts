// Checks whether many sessions leave something behind: compares the last cycles with early ones of the same run.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { judge } from '../measure/judge.ts'
import { atMost, type Metric, type Pair } from '../measure/metric.ts'
import { serverPids, serverRssBytesOf, treeOf, zombiesAmong } from '../measure/processes.ts'
import { median } from '../measure/statistics.ts'
import type { ProcessRow } from './row.ts'

const MEBIBYTE = 1024 * 1024
const MAX_GROWTH = 0.05

interface Cycle {
  readonly [reading: string]: number
}

export const soakRow: ProcessRow = {
  number: 34,
  title: 'Many sessions created, used and deleted, the last ones against early ones',
  whySkipped: whyNoSessions,
  async *measureProcesses({ servers }, { effort, signal }) {
    const { warmInstances, soakCycles, soakSkipped, soakWindow } = effort
    const server = await servers.one({ warmHeadless: warmInstances })
    const cycles: Cycle[] = []
    while (cycles.length < soakCycles) {
      signal.throwIfAborted()
      cycles.push(await cycle(server))
    }
    const early = cycles.slice(soakSkipped, soakSkipped + soakWindow)
    const late = cycles.slice(-soakWindow)
    const pairs: Pair[] = late.map((ours, index) => ({ ours, baseline: early[index]! }))
    const sampled = { clean: pairs, all: pairs, wanted: soakWindow }
    const grown = (reading: string) => atMost(MAX_GROWTH * median(early.map((each) => each[reading]!)), 0)
    const metrics: Metric[] = [
      { ...line('RSS of the server', 'rssMb', 'MB'), digits: 1, goal: atMost(1 + MAX_GROWTH, 1) },
      { ...line('open files of the server', 'files'), goal: atMost(1 + MAX_GROWTH, 1) },
      // These may be zero at the start, and must then stay zero.
      { ...added('zombies', 'zombies'), goal: grown('zombies') },
      { ...added('entries of the temporary directory', 'temporary'), goal: grown('temporary') },
      { ...added('entries of /dev/shm', 'sharedMemory'), goal: grown('sharedMemory') },
      { ...added('instances there', 'instances'), goal: grown('instances') },
      { ...line('create until usable', 'usableMs', 'ms'), digits: 1, goal: atMost(1.1, 1) },
    ]
    yield { results: metrics.map((metric) => judge(metric, sampled)), samples: pairs }
  },
}

function line(what: string, reading: string, unit = ''): Metric {
  return { row: 34, name: `After many sessions: ${what}`, reading, unit, digits: 0, judged: 'ratio' }
}

function added(what: string, reading: string): Metric {
  return { ...line(`${what}, added`, reading), digits: 2, judged: 'difference' }
}

async function cycle(server: SessionServer): Promise<Cycle> {
  const startedAt = performance.now()
  const browser = await server.create({ headless: true })
  const page = await Page.open(browser.cdp_ws_url)
  const usableMs = performance.now() - startedAt
  await page.evaluate('document.body.textContent = "used"')
  assert.equal(await page.evaluate('document.body.textContent'), 'used')
  await page.close()
  await server.delete(browser)
  await server.settled()
  return {
    usableMs,
    rssMb: serverRssBytesOf(server.pid) / MEBIBYTE,
    files: serverPids(server.pid).flatMap((pid) => readdirSync(`/proc/${pid}/fd`)).length,
    zombies: zombiesAmong(treeOf(server.pid)),
    temporary: readdirSync(tmpdir()).length,
    sharedMemory: readdirSync('/dev/shm').length,
    instances: server.instanceIds().length,
  }
}
