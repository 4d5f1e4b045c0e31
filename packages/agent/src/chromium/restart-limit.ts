const WINDOW_MS = 60_000
const MAX_IN_WINDOW = 5

/** Says when starting again has become pointless. */
export class RestartLimit {
  #times: number[] = []

  /** Counts one more; false when there were too many lately. */
  allows(now = performance.now()): boolean {
    this.#times = [...this.#times.filter((time) => now - time < WINDOW_MS), now]
    return this.#times.length <= MAX_IN_WINDOW
  }
}
