import assert from 'node:assert/strict'
import type { Browser } from '@berth/contracts/browsers'
import { HttpClient } from '../subjects/http-client.ts'
import { BarePrograms } from '../subjects/programs.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { pin } from '../measure/cores.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { quantile } from '../measure/statistics.ts'
import { inSession } from './in-session.ts'
import type { ProcessRow } from './row.ts'

const COMMAND = ['echo', 'first'] as const

export const execRow: ProcessRow = {
  number: 32,
  title: 'Process exec until its answer, against the first byte of child_process.spawn',
  whySkipped: whyNoSessions,
  async *measureProcesses({ servers, cores, cleanup }, measuring) {
    const { effort } = measuring
    const server = await servers.one({})
    const browser = await server.create({ headless: true, timeout_seconds: 3600 })
    const bare = await BarePrograms.start(cleanup)
    pin([bare.pid], cores.server)
    await server.settled({ sessions: 1 })
    const http = new HttpClient()
    const blocks = (calls: number) => ({
      ours: execBlock(browser, { http, calls }),
      baseline: spawnBlock(bare, calls),
    })
    yield await compare(
      {
        blocks: blocks(effort.callsPerBlock),
        warmUp: blocks(effort.callsPerBlock * 2),
        pairs: effort.roundTripPairs,
        metrics: [
          { ...line('p50, added', 'p50Ms', 'difference'), goal: atMost(3, 1) },
          line('p50', 'p50Ms', 'ratio'),
          { ...line('p95, added', 'callsMs', 'difference'), quantile: 0.95 },
        ],
      },
      measuring,
    )
    http.close()
    await server.delete(browser)
  },
}

function line(what: string, reading: string, judged: Metric['judged']): Metric {
  return { row: 32, name: `exec of echo: ${what}`, reading, unit: 'ms', digits: 2, judged }
}

/** The answer holds the whole output, so it is also the first byte. */
function execBlock(browser: Browser, { http, calls }: { http: HttpClient; calls: number }): Block {
  const url = inSession(browser, '/process/exec')
  const [command, ...args] = COMMAND
  const body = JSON.stringify({ command, args })
  return async () => {
    const callsMs: number[] = []
    for (let call = 0; call < calls; call++) {
      const answer = await http.send({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      assert.equal(answer.status, 200, answer.text)
      const { stdout_b64 } = JSON.parse(answer.text) as { stdout_b64: string }
      assert.equal(Buffer.from(stdout_b64, 'base64').toString(), 'first\n')
      callsMs.push(answer.elapsedMs)
    }
    return { callsMs, p50Ms: quantile(callsMs, 0.5) }
  }
}

function spawnBlock(bare: BarePrograms, calls: number): Block {
  return async () => {
    const callsMs = await bare.firstBytes({ command: [...COMMAND], count: calls })
    return { callsMs, p50Ms: quantile(callsMs, 0.5) }
  }
}
