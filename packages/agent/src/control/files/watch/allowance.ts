// Limits shared by all watches of an instance: how much they may watch, and how many events they handle at once.
import { readFileSync } from 'node:fs'

const most = { watches: 32, readers: 64, directories: 8_192, entries: 100_000 }
export type Allowed = keyof typeof most
const MAX_IN_BURST = 4_096

export class Allowance {
  readonly #taken: Record<Allowed, number> = { watches: 0, readers: 0, directories: 0, entries: 0 }
  #maxInBurst: number | undefined
  #inBurst = 0

  take(what: Allowed): boolean {
    if (this.#taken[what] >= most[what]) return false
    this.#taken[what]++
    return true
  }

  give(what: Allowed, count = 1): void {
    this.#taken[what] -= count
  }

  /** Counts an event; false when a burst has too many. */
  hear(): boolean {
    // Node delivers all waiting events in one go, before setImmediate runs.
    if (this.#inBurst === 0) setImmediate(() => (this.#inBurst = 0))
    this.#maxInBurst ??= Math.min(MAX_IN_BURST, queueLength() / 2)
    return ++this.#inBurst <= this.#maxInBurst
  }

  static most(what: Allowed): number {
    return most[what]
  }
}

/** How many events the kernel queues before it drops some. */
function queueLength(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'))
  } catch {
    return 2 * MAX_IN_BURST
  }
}
