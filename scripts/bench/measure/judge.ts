// Turns the pairs of a comparison into a verdict for each metric.
import type { Goal, Metric, Pair } from './metric.ts'
import { bootstrap, median, quantile, type Interval } from './statistics.ts'

export type Verdict = 'pass, stretch' | 'pass' | 'fail' | 'noisy' | 'info'

export interface Spread {
  readonly p50: number
  readonly p95: number
}

export interface Result {
  readonly metric: Metric
  /** Pairs that passed the noise check, and all measured pairs. */
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

/** An undecided metric is "noisy"; the caller may measure more pairs and judge again. */
export function judge(metric: Metric, { clean, all, wanted }: Sampled): Result {
  // Without clean pairs, the noisy ones are shown but not judged.
  const pairs = (clean.length > 0 ? clean : all).map((pair) => ({
    ours: samples(pair.ours, metric),
    baseline: metric.isOursOnly ? [] : samples(pair.baseline, metric),
  }))
  const interval = bootstrap(pairs, (some) => statistic(metric, some))
  return {
    metric,
    cleanCount: clean.length,
    pairCount: all.length,
    ours: spread(pairs.flatMap((pair) => pair.ours)),
    baseline: spread(pairs.flatMap((pair) => pair.baseline)),
    interval,
    // Too few clean pairs never pass.
    verdict: !metric.goal ? 'info' : clean.length < wanted ? 'noisy' : decide(metric.goal, interval),
  }
}

interface SampledPair {
  readonly ours: readonly number[]
  readonly baseline: readonly number[]
}

function statistic({ judged, quantile: share }: Metric, pairs: readonly SampledPair[]): number {
  if (share === undefined)
    return median(pairs.map(({ ours, baseline }) => hold(judged, ours[0]!, baseline[0]!)))
  const whole = (side: keyof SampledPair) =>
    quantile(
      pairs.flatMap((pair) => pair[side]),
      share,
    )
  return hold(judged, whole('ours'), whole('baseline'))
}

function hold(judged: Metric['judged'], ours: number, baseline: number): number {
  switch (judged) {
    case 'ratio':
      return ours / baseline
    case 'speedup':
      return baseline / ours
    case 'difference':
      return ours - baseline
    case 'value':
      return ours
  }
}

/** Passes if the worse end of the interval meets the goal, fails if the better end misses it. */
function decide({ direction, must, stretch }: Goal, { low, high }: Interval): Verdict {
  const [worse, better] = direction === 'at most' ? [high, low] : [low, high]
  const meets = (value: number, goal: number) => (direction === 'at most' ? value <= goal : value >= goal)
  if (stretch !== undefined && meets(worse, stretch)) return 'pass, stretch'
  if (meets(worse, must)) return 'pass'
  return meets(better, must) ? 'noisy' : 'fail'
}

function samples(readings: Pair['ours'], { reading: name, quantile: share }: Metric): readonly number[] {
  const value = readings[name]
  const values = typeof value === 'number' ? [value] : (value ?? [])
  const isWhole = share === undefined ? typeof value === 'number' : values.length > 0
  if (!isWhole || !values.every(Number.isFinite))
    throw new Error(`Cannot judge "${name}": a block has no finite reading of that name`)
  return values
}

function spread(values: readonly number[]): Spread {
  return { p50: quantile(values, 0.5), p95: quantile(values, 0.95) }
}
