import type { Browser } from '@berth/contracts/browsers'
import { BareChromium } from '../subjects/bare-chromium.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { compare, type Compared, type Measuring } from '../measure/compare.ts'
import { atLeast, atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { quantile } from '../measure/statistics.ts'
import { connectAgent, runLoop, STEPS, type AgentPage } from './agent-loop.ts'
import type { ProcessPlace, ProcessRow } from './row.ts'

export const agentLoopRow: ProcessRow = {
  number: 12,
  title: 'Agent loop of ten Playwright steps, against the same loop on a bare Chromium',
  whySkipped: whyNoSessions,
  measureProcesses: (place, measuring) =>
    compareAgents(place, measuring, {
      count: 1,
      pairs: measuring.effort.loopPairs,
      metrics: [
        { ...line(12, 'Agent loop: steps', 'stepsPerSecond', '/s'), goal: atLeast(0.9, 1) },
        line(12, 'Agent loop: p95 of a step', 'p95Ms', 'ms'),
        line(12, 'Agent loop: CPU of a step', 'cpuMs', 'ms'),
      ],
    }),
}

export const busySessionsRow: ProcessRow = {
  number: 14,
  title: 'Several busy sessions at once, against as many bare Chromiums with the same driver',
  whySkipped: whyNoSessions,
  measureProcesses: (place, measuring) => {
    const count = measuring.effort.busySessions
    const name = `${count} busy sessions`
    return compareAgents(place, measuring, {
      count,
      pairs: measuring.effort.loopPairs,
      metrics: [
        { ...line(14, `${name}: until all are done`, 'makespanMs', 'ms'), goal: atMost(1.1, 1.03) },
        { ...line(14, `${name}: p95 of a step`, 'p95Ms', 'ms'), goal: atMost(1.2) },
        line(14, `${name}: CPU of a step`, 'cpuMs', 'ms'),
      ],
    })
  },
}

function line(row: number, name: string, reading: string, unit: string): Metric {
  return { row, name, reading, unit, digits: 1, judged: 'ratio' }
}

interface Agents {
  readonly count: number
  readonly pairs: number
  readonly metrics: readonly Metric[]
}

async function* compareAgents(
  { cleanup, cores, servers }: ProcessPlace,
  measuring: Measuring,
  { count, pairs, metrics }: Agents,
): AsyncIterable<Compared> {
  const server = await servers.one({})
  const site = await servers.site()
  const browsers: Browser[] = []
  const chromiums: BareChromium[] = []
  const ours: AgentPage[] = []
  const baseline: AgentPage[] = []
  for (let made = 0; made < count; made++) {
    browsers.push(await server.create({ headless: true }))
    chromiums.push(await BareChromium.start(cleanup, { cores: cores.server, isHeadless: true }))
    ours.push(await connectAgent(browsers.at(-1)!.cdp_ws_url, site.url))
    baseline.push(await connectAgent(chromiums.at(-1)!.wsUrl, `http://127.0.0.1:${site.port}`))
  }
  await server.settled({ sessions: count })
  for (const chromium of chromiums) await chromium.settled(measuring.effort)
  const bareCpuMs = () => chromiums.reduce((sum, chromium) => sum + chromium.cpuMs(), 0)
  yield await compare(
    {
      blocks: { ours: loopBlock(ours, () => server.cpuMs()), baseline: loopBlock(baseline, bareCpuMs) },
      pairs,
      metrics,
    },
    measuring,
  )
  for (const { browser } of [...ours, ...baseline]) await browser.close()
  for (const browser of browsers) await server.delete(browser)
  for (const chromium of chromiums) await chromium.end()
  await server.settled()
}

/** Runs the steps of all pages in parallel. */
function loopBlock(agents: readonly AgentPage[], cpuMs: () => number): Block {
  return async () => {
    const cpuBefore = cpuMs()
    const startedAt = performance.now()
    const stepsMs = (await Promise.all(agents.map(runLoop))).flat()
    const makespanMs = performance.now() - startedAt
    return {
      stepsMs,
      makespanMs,
      stepsPerSecond: (agents.length * STEPS * 1000) / makespanMs,
      p95Ms: quantile(stepsMs, 0.95),
      cpuMs: (cpuMs() - cpuBefore) / stepsMs.length,
    }
  }
}
