// What a server keeps for each session in a Pod. The links are real; the cluster and the browsers are stand-ins, because
// this machine cannot hold hundreds of browsers.
import { setTimeout as pause } from 'node:timers/promises'
import { createSession } from '../../../tests/fixtures/sessions.ts'
import { startRig, STILL } from '../../scale/measure/rig.ts'
import { Cleanup } from '../cleanup.ts'
import { judge } from '../measure/judge.ts'
import { atMost, type Pair } from '../measure/metric.ts'
import { rssBytesOf } from '../measure/processes.ts'
import type { ProcessRow } from './row.ts'

const CREATES_AT_ONCE = 8
const PER = 100
const MIB = 1024 * 1024
/** Connections that nobody uses any more are closed after 30 s. */
const CALM_MS = 45_000

export const podMemoryRow: ProcessRow = {
  number: 40,
  title: 'Server memory for 100 idle sessions in Pods',
  async *measureProcesses({ cleanup }, { effort, signal }) {
    const samples: Pair[] = []
    for (let round = 0; round < effort.connectionRounds; round++) {
      // A process returns little memory, and a new one would take over the sessions of the last.
      const own = new Cleanup()
      cleanup.after(() => own.close())
      const server = await (await startRig(own)).startServer()
      const withMore = async (count: number) => {
        let left = count
        const create = async () => {
          while (left-- > 0 && !signal.aborted) await createSession(server, STILL)
        }
        await Promise.all(Array.from({ length: CREATES_AT_ONCE }, create))
        await pause(effort.isJudged ? CALM_MS : 0, undefined, { signal })
        return rssBytesOf(server.pid)
      }
      // Code that the first sessions load must not count for later ones.
      const few = await withMore(effort.podSessions / 4)
      const many = await withMore(effort.podSessions)
      samples.push({ ours: { megabytes: ((many - few) / effort.podSessions / MIB) * PER }, baseline: {} })
      await own.close()
    }
    const metric = {
      row: 40,
      name: '100 idle sessions in Pods: RSS of the server',
      reading: 'megabytes',
      unit: 'MiB',
      digits: 1,
      judged: 'value',
      isOursOnly: true,
      goal: atMost(20),
    } as const
    yield {
      results: [judge(metric, { clean: samples, all: samples, wanted: effort.connectionRounds })],
      samples,
    }
  },
}
