// How many bytes of answers from instances the server holds: for one agent, and for all together. Answers are held
// only while they are read, and reading has a deadline, so whoever waits here gets a turn.

export interface AnswerBudgetOptions {
  /** Every agent may hold so many, whatever others hold. */
  readonly freeBytes: number
  readonly maxBytesPerAgent: number
  /** What all agents hold beyond their free bytes. */
  readonly maxSharedBytes: number
}

interface Waiting {
  readonly key: object
  readonly bytes: number
  readonly enter: () => void
}

export class AnswerBudget {
  readonly #options: AnswerBudgetOptions
  readonly #heldBy = new Map<object, number>()
  readonly #waiting = new Set<Waiting>()
  #shared = 0

  constructor(options: AnswerBudgetOptions) {
    this.#options = options
  }

  /** A share of the budget for one answer; dispose of it when the answer is not needed any more. */
  shareOf(agent: object): Share {
    return new Share(
      (bytes, signal) => this.#take(agent, bytes, signal),
      (bytes) => this.#give(agent, bytes),
    )
  }

  #take(key: object, bytes: number, signal: AbortSignal): Promise<void> {
    const { maxBytesPerAgent } = this.#options
    if (this.#heldByAgent(key) + bytes > maxBytesPerAgent) {
      return Promise.reject(new Error(`its answers have more than ${maxBytesPerAgent} bytes together`))
    }
    // In the order of asking; nobody overtakes, except within the free bytes.
    const needsShared = this.#beyondFree(this.#heldByAgent(key) + bytes) > 0
    if (!needsShared || (this.#waiting.size === 0 && this.#fits(key, bytes))) {
      this.#add(key, bytes)
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#waiting.delete(waiting)
        signal.removeEventListener('abort', leave)
      }
      const leave = () => {
        settle()
        reject(signal.reason as Error)
      }
      const waiting: Waiting = {
        key,
        bytes,
        enter: () => {
          settle()
          this.#add(key, bytes)
          resolve()
        },
      }
      if (signal.aborted) return reject(signal.reason as Error)
      this.#waiting.add(waiting)
      signal.addEventListener('abort', leave)
    })
  }

  #fits(key: object, bytes: number): boolean {
    const held = this.#heldByAgent(key)
    const more = this.#beyondFree(held + bytes) - this.#beyondFree(held)
    return this.#shared + more <= this.#options.maxSharedBytes
  }

  #beyondFree(bytes: number): number {
    return Math.max(0, bytes - this.#options.freeBytes)
  }

  #heldByAgent(key: object): number {
    return this.#heldBy.get(key) ?? 0
  }

  #add(key: object, bytes: number): void {
    const held = this.#heldByAgent(key)
    this.#shared += this.#beyondFree(held + bytes) - this.#beyondFree(held)
    if (held + bytes > 0) this.#heldBy.set(key, held + bytes)
    else this.#heldBy.delete(key)
  }

  #give(key: object, bytes: number): void {
    this.#add(key, -bytes)
    for (const { key: next, bytes: wanted, enter } of this.#waiting) {
      if (!this.#fits(next, wanted)) return
      enter()
    }
  }
}

/** The bytes of one answer. */
export class Share implements Disposable {
  readonly #take: (bytes: number, signal: AbortSignal) => Promise<void>
  readonly #give: (bytes: number) => void
  #bytes = 0

  constructor(take: (bytes: number, signal: AbortSignal) => Promise<void>, give: (bytes: number) => void) {
    this.#take = take
    this.#give = give
  }

  /** Waits for room. Rejects if the agent holds too much, or with the signal's reason. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    await this.#take(bytes, signal)
    this.#bytes += bytes
  }

  [Symbol.dispose](): void {
    const bytes = this.#bytes
    this.#bytes = 0
    if (bytes > 0) this.#give(bytes)
  }
}

const MB = 1024 * 1024

/** One for the process, because its memory is one. A record of a replay may have 36 MiB. */
export const answerBudget = new AnswerBudget({
  freeBytes: MB,
  maxBytesPerAgent: 40 * MB,
  maxSharedBytes: 64 * MB,
})
