// Remembers answers for a short time. Callers that ask for the same at once share one answer. Errors are not remembered.
interface Remembered<T> {
  readonly answer: Promise<T>
  readonly until: number
}

export class Briefly<T> {
  readonly #answers = new Map<string, Remembered<T>>()
  readonly #forMs: number
  readonly #maxKeys: number
  readonly #now: () => number

  constructor(options: { forMs: number; maxKeys: number; now?: () => number }) {
    this.#forMs = options.forMs
    this.#maxKeys = options.maxKeys
    this.#now = options.now ?? (() => performance.now())
  }

  get(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(key)
    if (known && this.#now() < known.until) return known.answer
    this.#answers.delete(key)
    // The oldest goes first, as a Map keeps its order.
    const [oldest] = this.#answers.keys()
    if (oldest !== undefined && this.#answers.size >= this.#maxKeys) this.#answers.delete(oldest)
    const answer = make()
    const remembered = { answer, until: this.#now() + this.#forMs }
    this.#answers.set(key, remembered)
    answer.catch(() => {
      if (this.#answers.get(key) === remembered) this.#answers.delete(key)
    })
    return answer
  }
}
