/** Does one thing after another, in the order they were given. One that fails does not stop those after it. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()
  #size = 0

  /** How many are under way or wait. */
  get size(): number {
    return this.#size
  }

  /** Resolves or rejects as the work does. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    this.#size++
    const done = this.#last.then(work)
    this.#last = done.then(
      () => this.#size--,
      () => this.#size--,
    )
    return done
  }

  /** Resolves when all that was given so far is over, however it ended. */
  async settled(): Promise<void> {
    await this.#last
  }
}
