// Turns among the pools that lack browsers: the project that was served longest ago comes first, and of its pools the one
// that was. However many pools a project has, it has one turn.

interface Pool {
  readonly id: string
  readonly projectId: string
}

export class TurnOrder {
  /** When a project or a pool was served last, as a number that grows. */
  readonly #lastTurns = new Map<string, number>()
  #count = 0

  served({ id, projectId }: Pool): void {
    this.#count++
    this.#lastTurns.set(id, this.#count)
    this.#lastTurns.set(projectId, this.#count)
  }

  /** Keeps the given order where nobody was served before another. Forgets pools and projects that are not given. */
  inOrder<P extends Pool>(pools: readonly P[]): P[] {
    const given = new Set(pools.flatMap(({ id, projectId }) => [id, projectId]))
    for (const id of this.#lastTurns.keys()) if (!given.has(id)) this.#lastTurns.delete(id)
    return pools.toSorted(
      (one, other) =>
        this.#of(one.projectId) - this.#of(other.projectId) || this.#of(one.id) - this.#of(other.id),
    )
  }

  #of(id: string): number {
    return this.#lastTurns.get(id) ?? 0
  }
}
