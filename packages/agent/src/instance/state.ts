import type { AgentState } from '@berth/contracts/link'

/** Failures are for people. The first line says what failed, the others are a program's output. */
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
    if (this.#current.failure) this.#current.failure = shortened(this.#current.failure)
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

/** The first line, and of the output the end, which is its most useful part. */
function shortened(failure: string): string {
  if (failure.length <= MAX_FAILURE_CHARACTERS) return failure
  const [what = ''] = failure.split('\n', 1)
  const first = what.slice(0, MAX_FAILURE_CHARACTERS / 2)
  return `${first}\n${failure.slice(first.length + 1).slice(-(MAX_FAILURE_CHARACTERS - first.length - 1))}`
}
