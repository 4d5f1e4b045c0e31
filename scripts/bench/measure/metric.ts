// A metric is one line of the table: what is read on both sides, and its goal.

/** What a block measured, by name: a number, or all samples if they are judged together. */
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
  /** Name of the reading in the block. */
  readonly reading: string
  readonly unit: string
  readonly digits: number
  /** Ratio: ours / baseline. Speedup: baseline / ours. Difference: ours - baseline. Value: ours alone. */
  readonly judged: 'ratio' | 'speedup' | 'difference' | 'value'
  /** For readings that are samples: the quantile over all blocks, because one block has too few. */
  readonly quantile?: number
  /** The baseline has no such reading. */
  readonly isOursOnly?: boolean
  /** Without a goal, the metric is shown for information only. */
  readonly goal?: Goal
  /** Printed below the table. */
  readonly note?: string
}

export function atMost(must: number, stretch?: number): Goal {
  return { direction: 'at most', must, ...(stretch !== undefined && { stretch }) }
}

export function atLeast(must: number, stretch?: number): Goal {
  return { direction: 'at least', must, ...(stretch !== undefined && { stretch }) }
}
