const RESAMPLES = 4_000

export interface Interval {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Linear between the two nearest ranks. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = (sorted.length - 1) * share
  const below = sorted[Math.floor(rank)]!
  const above = sorted[Math.ceil(rank)]!
  return below + (above - below) * (rank - Math.floor(rank))
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The median, and where 95 % of the medians of resampled values lie. */
export function bootstrap(values: readonly number[]): Interval {
  const random = seededRandom(1)
  const medians = Array.from({ length: RESAMPLES }, () =>
    median(values.map(() => values[Math.floor(random() * values.length)]!)),
  )
  return { median: median(values), low: quantile(medians, 0.025), high: quantile(medians, 0.975) }
}

/** The same samples must give the same interval, so chance is seeded (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
