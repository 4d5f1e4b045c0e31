// Every measurement, and what the simulation takes from them.
import { median } from '../../bench/measure/statistics.ts'
import { Cleanup } from '../../bench/cleanup.ts'
import type { Owner } from '../../../tests/fixtures/cleanup.ts'
import type { Cost, Readings } from '../model/inputs.ts'
import { measureCrowd, type CrowdReadings } from './crowd.ts'
import { measureLife, type LifeReadings } from './life.ts'
import { measureLock, type LockReadings } from './lock.ts'
import { combine } from './meter.ts'
import { measureTakeOver, type TakeOverReadings } from './take-over.ts'
import { measureTelemetry, type TelemetryReadings } from './telemetry.ts'
import { measureWatch, type WatchReadings } from './watch.ts'

const LEASE_MS = 20_000

export interface Raw {
  readonly life: LifeReadings
  readonly crowd: CrowdReadings
  readonly telemetry: TelemetryReadings
  readonly lock: LockReadings[]
  readonly takeOver: TakeOverReadings
  readonly watch: WatchReadings
}

export interface Effort {
  readonly life: { sessions: number; rounds: number; idleMs: number }
  readonly crowd: { steps: readonly number[]; windows: number; windowMs: number; settleMs: number }
  readonly telemetry: { sessions: number; windows: number; windowMs: number }
  readonly lock: { steps: readonly number[]; creates: number; idleMs: number }
  readonly takeOver: { sessions: number }
  readonly watch: { pods: number; perSecond: number; windows: number; windowMs: number }
}

export const fullEffort: Effort = {
  life: { sessions: 50, rounds: 5, idleMs: 20_000 },
  crowd: { steps: [100, 200, 400], windows: 3, windowMs: 12_000, settleMs: 6_000 },
  telemetry: { sessions: 100, windows: 3, windowMs: 10_000 },
  lock: { steps: [100, 2_000, 10_000], creates: 30, idleMs: 12_000 },
  takeOver: { sessions: 200 },
  watch: { pods: 10_000, perSecond: 100, windows: 3, windowMs: 10_000 },
}

/** To see that everything works; the numbers mean nothing. */
export const smokeEffort: Effort = {
  life: { sessions: 3, rounds: 1, idleMs: 1_000 },
  crowd: { steps: [3, 6], windows: 1, windowMs: 2_000, settleMs: 500 },
  telemetry: { sessions: 3, windows: 1, windowMs: 2_000 },
  lock: { steps: [10, 200], creates: 2, idleMs: 5_000 },
  takeOver: { sessions: 5 },
  watch: { pods: 600, perSecond: 50, windows: 1, windowMs: 2_000 },
}

export const parts = ['life', 'crowd', 'telemetry', 'lock', 'takeOver', 'watch'] as const
export type Part = (typeof parts)[number]

const measures: { readonly [Name in Part]: (owner: Owner, effort: Effort) => Promise<Raw[Name]> } = {
  life: (owner, { life }) => measureLife(owner, life),
  crowd: (owner, { crowd }) => measureCrowd(owner, crowd),
  telemetry: (owner, { telemetry }) => measureTelemetry(owner, telemetry),
  lock: (owner, { lock }) => measureLock(owner, lock),
  takeOver: (owner, { takeOver }) => measureTakeOver(owner, { ...takeOver, leaseMs: LEASE_MS }),
  watch: (owner, { watch }) => measureWatch(owner, watch),
}

export async function measurePart<Name extends Part>(
  name: Name,
  effort: Effort,
  cleanup: Cleanup,
): Promise<Raw[Name]> {
  const own = new Cleanup()
  cleanup.after(() => own.close())
  try {
    return await measures[name](own, effort)
  } finally {
    await own.close()
  }
}

export function readingsFrom({ life, crowd, telemetry, lock, takeOver, watch }: Raw): Readings {
  const alone = crowd.crowds.find(({ sessions, warm }) => sessions === 0 && warm === 0)!
  const crowded = crowd.crowds.reduce((one, other) => (other.sessions > one.sessions ? other : one))
  const warm = crowd.crowds.find((each) => each.warm > 0)!
  const idleServer = medianCost(alone.costs)
  const perOne = (costs: readonly Cost[], count: number) =>
    combine(medianCost(costs), idleServer, (all, none) => Math.max(0, all - none) / count)
  const [few, many] = [lock[0]!, lock.at(-1)!]
  return {
    create: ofLife(life.create),
    connect: ofLife(life.connect),
    refill: ofLife(life.refill),
    delete: ofLife(life.delete),
    idleServer,
    idleSession: perOne(crowded.costs, crowded.sessions),
    idleWarm: perOne(warm.costs, warm.warm),
    events: medianCost(telemetry.each),
    takeOver: takeOver.each,
    // By processor time, which other programs on the machine disturb less than the clock.
    countMsPerSession: (many.databaseMs - few.databaseMs) / (many.live - few.live),
    reserveMs: median(lock.map(({ otherMs }) => otherMs)),
    watchEventMs: median(watch.eventMs),
    podBytes: (watch.bytesAfter - watch.bytesBefore) / watch.pods,
    serverBytes: alone.serverBytes,
    sessionBytes: (crowded.serverBytes - alone.serverBytes) / crowded.sessions,
    socketsPerSession: crowded.sockets / crowded.sessions,
    linkBytesPerSecond: crowded.linkBytesPerSecond / crowded.sessions,
    createMs: median(life.createMs),
  }
}

/** Only the first round counts transactions. */
const ofLife = (costs: readonly Cost[]): Cost => ({
  ...medianCost(costs),
  transactions: costs[0]!.transactions,
})

export function medianCost(costs: readonly Cost[]): Cost {
  const of = (name: keyof Cost) => median(costs.map((cost) => cost[name]))
  return {
    statements: of('statements'),
    transactions: of('transactions'),
    walBytes: of('walBytes'),
    databaseMs: of('databaseMs'),
    serverMs: of('serverMs'),
  }
}
