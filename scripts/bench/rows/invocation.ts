import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { deploy, tinyApp } from '../../../tests/fixtures/apps.ts'
import { HttpClient } from '../subjects/http-client.ts'
import { BarePrograms } from '../subjects/programs.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { pin } from '../measure/cores.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { quantile } from '../measure/statistics.ts'
import type { ProcessRow } from './row.ts'

const AT_ONCE = 50
/** Time for the next process to start and wait, as in practice: calls rarely follow each other at once. */
const REFILL_MS = 300
const EMPTY = { app_name: 'empty', action_name: 'nothing' }
const BARE = [process.execPath, '-e', 'process.stdout.write("0")'] as const

/** Not in the table of goals: the cost of a sync call of an empty action. */
export const invocationRow: ProcessRow = {
  number: 37,
  title: 'A sync invocation of an empty action, against a bare node -e',
  whySkipped: whyNoSessions,
  async *measureProcesses({ servers, cores, cleanup }, measuring) {
    const { effort } = measuring
    const server = await servers.one({})
    const { id } = await deploy(server, {
      files: tinyApp('empty', { nothing: '(context) => 0' }),
      force: true,
    })
    const bare = await BarePrograms.start(cleanup)
    pin([bare.pid], cores.server)
    await server.settled({ sessions: 1 })
    const http = new HttpClient({ connections: AT_ONCE })
    cleanup.after(() => http.close())
    const calls = Math.ceil(effort.callsPerBlock / 4)
    const one = (most: number) => ({ ours: oneByOne(server, http, most), baseline: bareOnes(bare, most) })
    yield await compare(
      {
        blocks: one(calls),
        warmUp: one(calls),
        pairs: effort.createPairs,
        // The process for the next call starts on the same core.
        isRestless: true,
        metrics: [
          { ...line('empty action, sync: p50', 'ratio'), goal: atMost(2, 1) },
          line('empty action, sync: p50, added', 'difference'),
        ],
      },
      measuring,
    )
    const count = measuring.effort.isJudged ? AT_ONCE : 5
    yield await compare(
      {
        blocks: { ours: atOnce(server, http, count), baseline: bareAtOnce(bare, count) },
        pairs: Math.ceil(effort.createPairs / 4),
        isRestless: true,
        metrics: [{ ...line(`${count} invocations at once: all done`, 'ratio'), goal: atMost(4, 2) }],
      },
      measuring,
    )
    // Otherwise the next row waits until the instance times out.
    await server.fetch(`/deployments/${id}`, { method: 'DELETE' })
  },
}

function line(name: string, judged: Metric['judged']): Metric {
  return { row: 37, name, reading: 'elapsedMs', unit: 'ms', digits: 1, judged }
}

async function call(server: SessionServer, http: HttpClient): Promise<number> {
  const { text, elapsedMs } = await server.invoke(EMPTY, http)
  const { status, output } = JSON.parse(text) as { status: string; output?: string }
  assert.deepEqual([status, output], ['succeeded', '0'], text)
  return elapsedMs
}

function oneByOne(server: SessionServer, http: HttpClient, calls: number): Block {
  return async () => {
    const callsMs: number[] = []
    for (let index = 0; index < calls; index++) {
      await pause(REFILL_MS)
      callsMs.push(await call(server, http))
    }
    return { elapsedMs: quantile(callsMs, 0.5) }
  }
}

function bareOnes(bare: BarePrograms, calls: number): Block {
  return async () => ({ elapsedMs: quantile(await bare.firstBytes({ command: BARE, count: calls }), 0.5) })
}

function atOnce(server: SessionServer, http: HttpClient, count: number): Block {
  return async () => {
    const startedAt = performance.now()
    await Promise.all(Array.from({ length: count }, () => call(server, http)))
    return { elapsedMs: performance.now() - startedAt }
  }
}

/** In sequence; on one core this is as fast as in parallel. */
function bareAtOnce(bare: BarePrograms, count: number): Block {
  return async () => {
    const callsMs = await bare.firstBytes({ command: BARE, count })
    return { elapsedMs: callsMs.reduce((sum, each) => sum + each, 0) }
  }
}
