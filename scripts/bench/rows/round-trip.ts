import assert from 'node:assert/strict'
import { BareChromium } from '../subjects/bare-chromium.ts'
import { Cdp } from '../subjects/cdp.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { onFreeCores } from '../measure/cores.ts'
import { treeOf } from '../measure/processes.ts'
import { quantile } from '../measure/statistics.ts'
import type { ProcessRow } from './row.ts'

export const roundTripRow: ProcessRow = {
  number: 8,
  title: 'Round trip of a CDP command, against a direct websocket to a bare Chromium',
  whySkipped: whyNoSessions,
  async *measureProcesses(place, measuring) {
    const { effort } = measuring
    const server = await place.servers.one({})
    const browser = await server.client.browsers.create({ headless: true })
    const chromium = await BareChromium.start(place.cleanup, { cores: place.cores.server, isHeadless: true })
    await Promise.all([server.settled({ sessions: 1 }), chromium.settled(measuring.effort)])
    const [ours, direct] = [await Cdp.open(browser.cdp_ws_url), await Cdp.open(chromium.wsUrl)]
    const blocks = (calls: number) => ({
      ours: roundTripBlock(ours, calls),
      baseline: roundTripBlock(direct, calls),
    })
    const servers = () => [...treeOf(server.pid), ...chromium.pids()]
    yield await onFreeCores(place.cores, servers, () =>
      compare(
        {
          blocks: blocks(effort.callsPerBlock),
          warmUp: blocks(effort.requestsPerWarmUp),
          pairs: effort.roundTripPairs,
          metrics: [
            { ...line('p50', 'p50Ms', 'ratio'), goal: atMost(2, 1.45) },
            { ...line('p50, added', 'p50Ms', 'difference'), goal: atMost(0.1, 0.04) },
            { ...line('p99, added', 'callsMs', 'difference'), quantile: 0.99, goal: atMost(1) },
          ],
        },
        measuring,
      ),
    )
    yield await compare(
      {
        blocks: blocks(effort.callsPerBlock),
        warmUp: blocks(effort.requestsPerWarmUp),
        pairs: effort.roundTripPairs,
        metrics: [
          line('p50, one core', 'p50Ms', 'ratio'),
          line('p50, one core, added', 'p50Ms', 'difference'),
        ],
      },
      measuring,
    )
    await Promise.all([ours.close(), direct.close()])
    await server.delete(browser)
    await chromium.end()
  },
}

function line(what: string, reading: string, judged: Metric['judged']): Metric {
  return { row: 8, name: `Browser.getVersion: ${what}`, reading, unit: 'ms', digits: 3, judged }
}

export function roundTripBlock(cdp: Cdp, calls: number): Block {
  return async () => {
    const callsMs = await roundTrips(cdp, { count: calls })
    return { callsMs, p50Ms: quantile(callsMs, 0.5) }
  }
}

/** In sequence, for the given number or time. */
export async function roundTrips(
  cdp: Cdp,
  { count = Infinity, seconds = Infinity }: { count?: number; seconds?: number },
): Promise<number[]> {
  const elapsedMs: number[] = []
  const endAt = performance.now() + seconds * 1000
  while (elapsedMs.length < count && performance.now() < endAt) {
    const startedAt = performance.now()
    const { product } = await cdp.call<{ product: string }>('Browser.getVersion')
    elapsedMs.push(performance.now() - startedAt)
    assert.match(product, /Chrom/)
  }
  return elapsedMs
}
