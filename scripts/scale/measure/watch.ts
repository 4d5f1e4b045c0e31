// What the Pods of other servers cost a server: every server follows all Pods.
import { setTimeout as pause } from 'node:timers/promises'
import { cpuMsOf, rssBytesOf } from '../../bench/measure/processes.ts'
import type { Owner } from '../../../tests/fixtures/cleanup.ts'
import { eventually, startRig, warmCount } from './rig.ts'

const SETTLE_MS = 10_000

export interface WatchReadings {
  readonly pods: number
  /** Of the server, without and with them. */
  readonly bytesBefore: number
  readonly bytesAfter: number
  /** Reading all of them once. */
  readonly listMs: number
  readonly listBytes: number
  /** The longest that a request waited meanwhile. */
  readonly longestWaitMs: number
  /** Processor time of one event, in each window. */
  readonly eventMs: readonly number[]
}

export async function measureWatch(
  owner: Owner,
  {
    pods,
    perSecond,
    windows,
    windowMs,
  }: { pods: number; perSecond: number; windows: number; windowMs: number },
): Promise<WatchReadings> {
  const rig = await startRig(owner)
  const { cluster } = rig
  // The one that the others are copies of.
  const first = await rig.startServer({ BERTH_WARM_HEADLESS: '1' })
  await eventually('an instance is warm', async () => (await warmCount(first)) === 1)
  await pause(SETTLE_MS)
  const bytesBefore = rssBytesOf(first.pid)
  await cluster.order({ ghosts: pods })
  await pause(SETTLE_MS)
  const { listBytes: listedBefore, calls } = await cluster.report()
  const beforeMs = cpuMsOf([first.pid])
  await cluster.order({ forget: true, endWatches: true })
  let longestWaitMs = 0
  await eventually('all Pods are read', async () => {
    const askedAt = performance.now()
    await first.fetch('/health')
    longestWaitMs = Math.max(longestWaitMs, performance.now() - askedAt)
    const now = await cluster.report()
    return now.watchers === 1 && now.calls.list_pods > calls.list_pods
  })
  const listMs = cpuMsOf([first.pid]) - beforeMs
  const { listBytes } = await cluster.report()
  await pause(SETTLE_MS)
  const bytesAfter = rssBytesOf(first.pid)
  const eventMs: number[] = []
  const cpuFor = async () => {
    const from = cpuMsOf([first.pid])
    await pause(windowMs)
    return cpuMsOf([first.pid]) - from
  }
  for (let window = 0; window < windows; window++) {
    const idleMs = await cpuFor()
    await cluster.order({ stir: perSecond })
    const { events } = await cluster.report()
    const busyMs = await cpuFor()
    const count = (await cluster.report()).events - events
    await cluster.order({ stir: 0 })
    eventMs.push((busyMs - idleMs) / count)
  }
  await first.stop()
  return {
    pods,
    bytesBefore,
    bytesAfter,
    listMs,
    listBytes: listBytes - listedBefore,
    longestWaitMs,
    eventMs,
  }
}
