// Measures one comparison of a row: pairs of blocks, judged, and repeated while the result is undecided.
import type { Effort } from '../effort.ts'
import type { NoiseCheck } from './noise-check.ts'
import { judge, type Result } from './judge.ts'
import type { Metric, Pair } from './metric.ts'
import { collectPairs, type Blocks, type CheckedPair } from './pairs.ts'

/** Painting a page or collecting garbage takes some tens of milliseconds. */
const REST_MS = 250

export interface Comparison {
  readonly blocks: Blocks
  /** Run before anything counts; by default the same blocks. */
  readonly warmUp?: Blocks
  readonly metrics: readonly Metric[]
  readonly pairs: number
  /** Whether a side keeps its core busy between blocks, for example with a scrolling page. */
  readonly isRestless?: boolean
}

export interface Compared {
  readonly results: readonly Result[]
  readonly samples: readonly (CheckedPair | Pair)[]
  /** The metrics of the row that could not be measured, and why. */
  readonly skipped?: readonly string[]
}

export interface Measuring {
  readonly effort: Effort
  readonly noiseCheck: NoiseCheck
  readonly signal: AbortSignal
}

/** Measures, and repeats while the interval of a metric spans its goal. */
export async function compare(comparison: Comparison, measuring: Measuring): Promise<Compared> {
  const { effort, signal } = measuring
  const { blocks, warmUp = blocks, metrics, pairs: wanted, isRestless = false } = comparison
  for (let round = 0; round < effort.warmUps; round++) {
    await warmUp.ours()
    await warmUp.baseline()
    signal.throwIfAborted()
  }
  const noiseCheck = isRestless ? await measuring.noiseCheck.byCpuTime() : measuring.noiseCheck
  const samples: CheckedPair[] = []
  const collecting = {
    wanted,
    maxPairs: effort.isJudged ? wanted * 2 : wanted,
    maxWaitMs: effort.maxCalmWaitMs,
    restMs: effort.isJudged ? REST_MS : 0,
    noiseCheck,
    signal,
  }
  let results: Result[] = []
  for (let round = 0; round <= effort.repeats; round++) {
    samples.push(...(await collectPairs(blocks, collecting)))
    const clean = samples.filter((pair) => pair.isClean)
    results = metrics.map((metric) => judge(metric, { clean, all: samples, wanted }))
    if (!results.some(({ verdict }) => verdict === 'noisy')) break
    // Repeating would not help: something else is using this machine.
    if (clean.length < wanted / 2) break
  }
  return { results, samples }
}
