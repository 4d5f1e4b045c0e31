// What it takes to take over the sessions of a server that was killed.
import { setTimeout as pause } from 'node:timers/promises'
import type { Owner } from '../../../tests/fixtures/cleanup.ts'
import { createSession } from '../../../tests/fixtures/sessions.ts'
import type { Cost } from '../model/inputs.ts'
import { costBetween, costPerSecond, Meter } from './meter.ts'
import { startRig, STILL } from './rig.ts'

const LOOK_MS = 20
const IDLE_MS = 10_000

export interface TakeOverReadings {
  readonly sessions: number
  /** From the kill until another server has the first, and the last. */
  readonly firstMs: number
  readonly lastMs: number
  readonly each: Cost
  /** Sessions that are there a lease later. */
  readonly alive: number
}

export async function measureTakeOver(
  owner: Owner,
  { sessions, leaseMs }: { sessions: number; leaseMs: number },
): Promise<TakeOverReadings> {
  const rig = await startRig(owner)
  const lost = await rig.startServer()
  const other = await rig.startServer()
  for (let count = 0; count < sessions; count++) await createSession(lost, STILL)
  const meter = new Meter(rig, other)
  const idleFrom = await meter.read()
  await pause(IDLE_MS)
  const idle = costPerSecond(idleFrom, await meter.read())
  const countOf = async (where: string) => {
    const { rows } = await rig.sql.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM browsers WHERE ended_at IS NULL AND ${where}`,
    )
    return rows[0]!.count
  }
  const { rows } = await rig.sql.query<{ id: string }>('SELECT DISTINCT server_id AS id FROM browsers')
  const isTaken = `server_id <> '${rows[0]!.id}'`
  const before = await meter.read()
  lost.process.kill('SIGKILL')
  process.kill(lost.pid, 'SIGKILL')
  const killedAt = performance.now()
  let firstMs: number | undefined
  for (;;) {
    const taken = await countOf(isTaken)
    if (taken > 0) firstMs ??= performance.now() - killedAt
    if (taken === sessions) break
    await pause(LOOK_MS)
  }
  const lastMs = performance.now() - killedAt
  // The connections to the Pods are made after the row is taken.
  await pause(3_000)
  const after = await meter.read()
  const each = costBetween(before, after, { count: sessions, idle })
  await pause(leaseMs + 15_000)
  const alive = await countOf(`state = 'ready'`)
  await other.stop()
  return { sessions, firstMs: firstMs ?? lastMs, lastMs, each, alive }
}
