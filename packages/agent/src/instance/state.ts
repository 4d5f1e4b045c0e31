import type { AgentState } from '@berth/contracts/link'

/** Failures are for people; the end of a long one is the most useful part. */
const MAX_FAILURE_CHARACTERS = 4_000

/** Chromium's state as the server sees it, numbered so that the server can wait for the next change. */
export class StateBoard {
  #current: AgentState = {
    number: 0,
    browser: 'none',
    devtools_path: null,
    browser_version: null,
    restarts: 0,
    failure: null,
    processes: 0,
    viewers: 0,
  }
  readonly #waiting = new Set<() => void>()

  get current(): AgentState {
    return this.#current
  }

  update(change: Partial<Omit<AgentState, 'number'>>): void {
    this.#current = { ...this.#current, ...change, number: this.#current.number + 1 }
    if (this.#current.failure) {
      this.#current.failure = this.#current.failure.slice(-MAX_FAILURE_CHARACTERS)
    }
    for (const wake of this.#waiting) wake()
  }

  /** Resolves when `isTrue` holds for the state, or with the current state after the timeout. */
  async when(isTrue: (state: AgentState) => boolean, timeoutMs: number): Promise<AgentState> {
    if (isTrue(this.#current)) return this.#current
    const { promise, resolve } = Promise.withResolvers<void>()
    const check = () => {
      if (isTrue(this.#current)) resolve()
    }
    const timer = setTimeout(resolve, timeoutMs)
    this.#waiting.add(check)
    await promise
    clearTimeout(timer)
    this.#waiting.delete(check)
    return this.#current
  }
}
