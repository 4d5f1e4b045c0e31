// Counts wakes, and how long they took.
import type { Depth } from './standby.ts'

export class Wakes {
  readonly counts = { light: 0, deep: 0 }
  readonly milliseconds = { light: 0, deep: 0 }

  add(depth: Depth, ms: number): void {
    this.counts[depth]++
    this.milliseconds[depth] += ms
  }
}
