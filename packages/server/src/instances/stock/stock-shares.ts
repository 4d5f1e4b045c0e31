// Which project may take an instance that was made in advance. Whoever finds none starts one from nothing, and for a while
// the next one in stock is kept for it: projects that want more than there are get them in turn, instead of the
// quickest getting all.

/** A project that found none and does not come back for so long wants no more. */
const KEPT_MS = 5_000

export class StockShares {
  readonly #now: () => number
  /** When each project found none, the first one first. */
  readonly #missed = new Map<string, number>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Whether the project may take one of `count`. Ask once for each that is wanted. */
  mayTake(projectId: string, count: number): boolean {
    this.#forget()
    const mayTake = count > this.#countAhead(projectId)
    if (mayTake) this.#missed.delete(projectId)
    else if (!this.#missed.has(projectId)) this.#missed.set(projectId, this.#now())
    return mayTake
  }

  #countAhead(projectId: string): number {
    let count = 0
    for (const other of this.#missed.keys()) {
      if (other === projectId) break
      count++
    }
    return count
  }

  #forget(): void {
    for (const [projectId, at] of this.#missed) {
      if (this.#now() - at < KEPT_MS) return
      this.#missed.delete(projectId)
    }
  }
}
