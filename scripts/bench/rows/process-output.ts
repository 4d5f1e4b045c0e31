import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import type { Browser } from '@berth/contracts/browsers'
import { readOutput } from '../subjects/event-bytes.ts'
import { HttpClient } from '../subjects/http-client.ts'
import { BarePrograms } from '../subjects/programs.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { pin } from '../measure/cores.ts'
import { atLeast, atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { cpuMsOf, serverRssBytesOf, treeOf } from '../measure/processes.ts'
import { inSession } from './in-session.ts'
import type { ProcessRow } from './row.ts'

const MB = 1024 * 1024
const OUTPUT_BYTES = 64 * MB
const LOOK_EVERY_MS = 10

export const processOutputRow: ProcessRow = {
  number: 31,
  title: '64 MB of program output as events, against a pipe and base 64 in bare Node',
  whySkipped: whyNoSessions,
  async *measureProcesses({ servers, cores, cleanup }, measuring) {
    const server = await servers.one({})
    const browser = await server.create({ headless: true, timeout_seconds: 3600 })
    const bare = await BarePrograms.start(cleanup)
    pin([bare.pid], cores.server)
    await server.settled({ sessions: 1 })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const http = new HttpClient()
    yield await compare(
      {
        blocks: {
          ours: oursBlock(server, browser, { agent, http }),
          baseline: bareBlock(bare, agent),
        },
        pairs: measuring.effort.createPairs,
        metrics: [
          { ...line('throughput', 'mbPerSecond', 'MB/s'), goal: atLeast(0.6, 0.9) },
          line('CPU of all processes', 'cpuMs', 'ms'),
          {
            ...line('RSS of the server, growth', 'grownMb', 'MB'),
            judged: 'value',
            isOursOnly: true,
            goal: atMost(48),
          },
        ],
      },
      measuring,
    )
    agent.destroy()
    http.close()
    await server.delete(browser)
  },
}

function line(what: string, reading: string, unit: string): Metric {
  return { row: 31, name: `stdout of 64 MB: ${what}`, reading, unit, digits: 0, judged: 'ratio' }
}

/** Spawns the program and reads while it writes, like the baseline. */
function oursBlock(
  server: SessionServer,
  browser: Browser,
  { agent, http }: { agent: Agent; http: HttpClient },
): Block {
  return async () => {
    const pids = () => treeOf(server.pid)
    const [cpuBefore, rssBefore] = [cpuMsOf(pids()), serverRssBytesOf(server.pid)]
    let peak = rssBefore
    const looking = setInterval(() => (peak = Math.max(peak, serverRssBytesOf(server.pid))), LOOK_EVERY_MS)
    const startedAt = performance.now()
    const spawned = await http.send({
      url: inSession(browser, '/process/spawn'),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ command: 'head', args: ['-c', String(OUTPUT_BYTES), '/dev/zero'] }),
    })
    assert.equal(spawned.status, 200, spawned.text)
    const { process_id: id } = JSON.parse(spawned.text) as { process_id: string }
    const output = await readOutput(inSession(browser, `/process/${id}/stdout/stream`), agent)
    const seconds = (performance.now() - startedAt) / 1000
    clearInterval(looking)
    assert.deepEqual(output, { bytes: OUTPUT_BYTES, exitCode: 0 })
    return {
      mbPerSecond: OUTPUT_BYTES / MB / seconds,
      cpuMs: cpuMsOf(pids()) - cpuBefore,
      grownMb: (peak - rssBefore) / MB,
    }
  }
}

function bareBlock(bare: BarePrograms, agent: Agent): Block {
  return async () => {
    const cpuBefore = cpuMsOf(treeOf(bare.pid))
    const startedAt = performance.now()
    const output = await readOutput(`${bare.url}/output/${OUTPUT_BYTES}`, agent)
    const seconds = (performance.now() - startedAt) / 1000
    assert.deepEqual(output, { bytes: OUTPUT_BYTES, exitCode: 0 })
    return { mbPerSecond: OUTPUT_BYTES / MB / seconds, cpuMs: cpuMsOf(treeOf(bare.pid)) - cpuBefore }
  }
}
