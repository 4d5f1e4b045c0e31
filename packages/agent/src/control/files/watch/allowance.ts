// What all watches of an instance share: how much may be watched, and how much news is taken at once.
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

  /** Counts news. False when there are more at once than there is time for. */
  hear(): boolean {
    // All that waits is handed over in one go; after it, other things have their turn.
    if (this.#inBurst === 0) setImmediate(() => (this.#inBurst = 0))
    this.#maxInBurst ??= Math.min(MAX_IN_BURST, queueLength() / 2)
    return ++this.#inBurst <= this.#maxInBurst
  }

  static most(what: Allowed): number {
    return most[what]
  }
}

/** How much the kernel keeps for us; beyond it news are dropped. */
function queueLength(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'))
  } catch {
    return 2 * MAX_IN_BURST
  }
}
