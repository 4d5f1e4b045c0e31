import type { Browser } from '@berth/contracts/browsers'
import { Cdp } from '../subjects/cdp.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { judge } from '../measure/judge.ts'
import { atMost, type Metric, type Pair } from '../measure/metric.ts'
import { pssBytesOf, serverRssBytesOf } from '../measure/processes.ts'
import { agentOf } from './agent-of.ts'
import { LONG_TIMEOUT_SECONDS } from './standby-watch.ts'
import type { ProcessRow } from './row.ts'

/** Below the server's limit for one session. */
const PER_SESSION = 50
const WARM_UP = 10

export const connectionMemoryRow: ProcessRow = {
  number: 10,
  title: 'Server memory for one more CDP connection',
  whySkipped: whyNoSessions,
  async *measureProcesses({ servers }, { effort, signal }) {
    const samples: Pair[] = []
    for (let round = 0; round < effort.connectionRounds; round++) {
      signal.throwIfAborted()
      // A process returns little memory, so each round needs a new one.
      const server = await servers.fresh({})
      samples.push({ ours: await memoryPerConnection(server, effort.connections), baseline: {} })
    }
    const metrics: Metric[] = [
      { ...line('RSS of the server', 'serverKb'), goal: atMost(150, 60) },
      line('PSS of the agents', 'agentKb'),
    ]
    const sampled = { clean: samples, all: samples, wanted: effort.connectionRounds }
    yield { results: metrics.map((metric) => judge(metric, sampled)), samples }
  },
}

function line(what: string, reading: string): Metric {
  const name = `Each idle CDP connection: ${what}`
  return { row: 10, name, reading, unit: 'KB', digits: 1, judged: 'value', isOursOnly: true }
}

async function memoryPerConnection(server: SessionServer, count: number) {
  const browsers: Browser[] = []
  while (browsers.length < Math.ceil(count / PER_SESSION)) {
    browsers.push(await server.create({ headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS }))
  }
  const open = async (connections: number) => {
    const opened: Cdp[] = []
    for (let made = 0; made < connections; made++) {
      const cdp = await Cdp.open(browsers[made % browsers.length]!.cdp_ws_url)
      await cdp.call('Browser.getVersion')
      opened.push(cdp)
    }
    return opened
  }
  // Code that the first connections load must not count for later ones.
  const first = await open(WARM_UP)
  for (const cdp of first) await cdp.close()
  // Each session keeps one connection; otherwise it would go on standby.
  const held = await open(browsers.length)
  await server.settled({ sessions: browsers.length })
  const agents = [...server.processes().instances.values()].map(agentOf)
  const read = () => ({ server: serverRssBytesOf(server.pid), agents: pssBytesOf(agents) })
  const before = read()
  const opened = await open(count)
  await server.settled({ sessions: browsers.length })
  const after = read()
  for (const cdp of [...opened, ...held]) await cdp.close()
  for (const browser of browsers) await server.delete(browser)
  return {
    serverKb: (after.server - before.server) / count / 1024,
    agentKb: (after.agents - before.agents) / count / 1024,
  }
}
