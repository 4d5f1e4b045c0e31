// Quantiles, and the bootstrap interval of a statistic.
const RESAMPLES = 4_000

export interface Interval {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Interpolates linearly between the two nearest ranks. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted()
  const rank = (sorted.length - 1) * share
  const below = sorted[Math.floor(rank)]!
  const above = sorted[Math.ceil(rank)]!
  return below + (above - below) * (rank - Math.floor(rank))
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The statistic of all pairs, and the range that holds 95 % of it when pairs are drawn again. */
export function bootstrap<T>(items: readonly T[], statistic: (some: readonly T[]) => number): Interval {
  const random = seededRandom(1)
  const drawn = Array.from({ length: RESAMPLES }, () =>
    statistic(items.map(() => items[Math.floor(random() * items.length)]!)),
  )
  return { median: statistic(items), low: quantile(drawn, 0.025), high: quantile(drawn, 0.975) }
}

/** Seeded (mulberry32), so that the same samples give the same interval. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
