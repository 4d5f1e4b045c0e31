// What changed between two looks at what is alive. Comparing whole looks needs no clock, so neither the clocks of
// servers nor transactions that commit late can hide a change.
import type { LiveRow } from './types.ts'

export class LiveLook {
  readonly #rows: ReadonlyMap<string, LiveRow>

  constructor(rows: readonly LiveRow[]) {
    this.#rows = new Map(rows.map((row) => [keyOf(row), row]))
  }

  find(of: Pick<LiveRow, 'kind' | 'id'>): LiveRow | undefined {
    return this.#rows.get(keyOf(of))
  }

  /** What is new, gone, or in another state than in the earlier look. */
  since(earlier: LiveLook): LiveRow[] {
    const changed: LiveRow[] = []
    for (const [key, row] of this.#rows) {
      if (earlier.#rows.get(key)?.state !== row.state) changed.push(row)
    }
    for (const [key, row] of earlier.#rows) if (!this.#rows.has(key)) changed.push(row)
    return changed
  }
}

const keyOf = ({ kind, id }: Pick<LiveRow, 'kind' | 'id'>) => `${kind}:${id}`
