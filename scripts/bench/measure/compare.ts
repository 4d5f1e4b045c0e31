import type { Effort } from '../effort.ts'
import type { Canary } from './canary.ts'
import { judge, type Result } from './judge.ts'
import type { Metric, Pair } from './metric.ts'
import { collectPairs, type Arms, type CheckedPair } from './pairs.ts'

/** A page paints and a garbage collection takes some tens of milliseconds. */
const REST_MS = 250

export interface Comparison {
  readonly arms: Arms
  /** Run before anything counts; the arms themselves, unless they need longer to warm up. */
  readonly warmUp?: Arms
  readonly metrics: readonly Metric[]
  readonly pairs: number
  /** Whether an arm keeps its core busy between blocks, as a page that scrolls on does. */
  readonly isRestless?: boolean
}

export interface Compared {
  readonly results: readonly Result[]
  readonly samples: readonly (CheckedPair | Pair)[]
  /** What of the row could not be measured, and why. */
  readonly skipped?: readonly string[]
}

export interface Measuring {
  readonly effort: Effort
  readonly canary: Canary
  readonly signal: AbortSignal
}

/** Measures, and goes on measuring while the interval of a metric spans its goal. */
export async function compare(comparison: Comparison, measuring: Measuring): Promise<Compared> {
  const { effort, signal } = measuring
  const { arms, warmUp = arms, metrics, pairs: wanted, isRestless = false } = comparison
  for (let round = 0; round < effort.warmUps; round++) {
    await warmUp.ours()
    await warmUp.baseline()
    signal.throwIfAborted()
  }
  const canary = isRestless ? await measuring.canary.byOwnTime() : measuring.canary
  const samples: CheckedPair[] = []
  const collecting = {
    wanted,
    most: effort.isJudged ? wanted * 2 : wanted,
    maxWaitMs: effort.maxCalmWaitMs,
    restMs: effort.isJudged ? REST_MS : 0,
    canary,
    signal,
  }
  let results: Result[] = []
  for (let round = 0; round <= effort.repeats; round++) {
    samples.push(...(await collectPairs(arms, collecting)))
    const clean = samples.filter((pair) => pair.isClean)
    results = metrics.map((metric) => judge(metric, { clean, all: samples, wanted }))
    if (!results.some(({ verdict }) => verdict === 'noisy')) break
    // More of the same would not help: the machine is simply not ours.
    if (clean.length < wanted / 2) break
  }
  return { results, samples }
}
