/** At most so many at once for each key. Nothing is kept of a key that nobody is in. */
export class KeyedLimit<Key = string> {
  readonly #max: number
  readonly #countOf = new Map<Key, number>()

  constructor(max: number) {
    this.#max = max
  }

  get max(): number {
    return this.#max
  }

  countOf(key: Key): number {
    return this.#countOf.get(key) ?? 0
  }

  hasRoom(key: Key): boolean {
    return this.countOf(key) < this.#max
  }

  /** A place until it is disposed; undefined if there is none left. */
  enter(key: Key): Disposable | undefined {
    if (!this.hasRoom(key)) return undefined
    this.#countOf.set(key, this.countOf(key) + 1)
    let isInside = true
    return {
      [Symbol.dispose]: () => {
        if (!isInside) return
        isInside = false
        const left = this.countOf(key) - 1
        if (left > 0) this.#countOf.set(key, left)
        else this.#countOf.delete(key)
      },
    }
  }
}
