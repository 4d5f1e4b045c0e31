// A metric is one line of the table: what is read off both arms, and what is wanted of it.

/** What a block gave, by the name of the metric: a number, or all samples where they are judged together. */
export type Readings = Readonly<Record<string, number | readonly number[]>>

export interface Pair {
  readonly ours: Readings
  readonly baseline: Readings
}

export interface Goal {
  readonly direction: 'at most' | 'at least'
  readonly must: number
  readonly stretch?: number
}

export interface Metric {
  readonly row: number
  readonly name: string
  /** Name of the reading it is made of. */
  readonly reading: string
  readonly unit: string
  readonly digits: number
  /**
   * What is judged: ours as a multiple of the baseline, the baseline as a multiple of ours, how much more
   * ours is, or ours alone.
   */
  readonly judged: 'ratio' | 'speedup' | 'difference' | 'value'
  /** For readings that are samples: which quantile of those of all blocks, as one block has too few. */
  readonly quantile?: number
  /** The baseline has nothing of the kind. */
  readonly isOursOnly?: boolean
  /** Without one it is told for information. */
  readonly goal?: Goal
  /** What one must know to read the line. */
  readonly note?: string
}

export function atMost(must: number, stretch?: number): Goal {
  return { direction: 'at most', must, ...(stretch !== undefined && { stretch }) }
}

export function atLeast(must: number, stretch?: number): Goal {
  return { direction: 'at least', must, ...(stretch !== undefined && { stretch }) }
}
