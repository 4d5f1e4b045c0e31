const WINDOW_MS = 60_000
const MAX_IN_WINDOW = 5

/** Decides when restarting is pointless. */
export class RestartLimit {
  #times: number[] = []

  /** Counts a restart; false when there were too many recently. */
  allows(now = performance.now()): boolean {
    this.#times = [...this.#times.filter((time) => now - time < WINDOW_MS), now]
    return this.#times.length <= MAX_IN_WINDOW
  }
}
