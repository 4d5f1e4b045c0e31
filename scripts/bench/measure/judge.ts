import type { Goal, Metric, Pair } from './metric.ts'
import { bootstrap, quantile, type Interval } from './statistics.ts'

export type Verdict = 'pass, stretch' | 'pass' | 'fail' | 'noisy' | 'info'

export interface Spread {
  readonly p50: number
  readonly p95: number
}

export interface Result {
  readonly metric: Metric
  /** Pairs the canary let pass, of all that were measured. */
  readonly cleanCount: number
  readonly pairCount: number
  readonly ours: Spread
  readonly baseline: Spread
  readonly interval: Interval
  readonly verdict: Verdict
}

interface Sampled {
  readonly clean: readonly Pair[]
  readonly all: readonly Pair[]
  readonly wanted: number
}

/** Undecided is "noisy" here; whoever can measure on does so and asks again. */
export function judge(metric: Metric, { clean, all, wanted }: Sampled): Result {
  // With nothing clean there are still numbers to show, and too few to judge.
  const pairs = clean.length > 0 ? clean : all
  const ours = pairs.map((pair) => reading(pair.ours, metric))
  const baseline = pairs.map((pair) => reading(pair.baseline, metric))
  const judged = metric.judged === 'value' ? ours : ours.map((value, index) => value / baseline[index]!)
  const interval = bootstrap(judged)
  return {
    metric,
    cleanCount: clean.length,
    pairCount: all.length,
    ours: spread(ours),
    baseline: spread(baseline),
    interval,
    // Too few clean pairs are never green, whatever they say.
    verdict: !metric.goal ? 'info' : clean.length < wanted ? 'noisy' : decide(metric.goal, interval),
  }
}

/** Pass by the interval's worse end, fail by its better one, and nothing in between. */
function decide({ direction, must, stretch }: Goal, { low, high }: Interval): Verdict {
  const [worse, better] = direction === 'at most' ? [high, low] : [low, high]
  const meets = (value: number, goal: number) => (direction === 'at most' ? value <= goal : value >= goal)
  if (stretch !== undefined && meets(worse, stretch)) return 'pass, stretch'
  if (meets(worse, must)) return 'pass'
  return meets(better, must) ? 'noisy' : 'fail'
}

function reading(readings: Pair['ours'], { reading: name }: Metric): number {
  const value = readings[name]
  if (value === undefined || !Number.isFinite(value)) throw new Error(`Cannot read "${name}" of a block`)
  return value
}

function spread(values: readonly number[]): Spread {
  return { p50: quantile(values, 0.5), p95: quantile(values, 0.95) }
}
