// A program that was spawned in a session keeps it in use until it ends. That it runs is learned with the
// answer to the call that spawned it, or whenever else the agent tells; from then on the agent is asked, in
// calls that it answers when that changes.
import type { AgentState } from '@berth/contracts/link'
import { pause } from '@berth/kit/pause'
import type { AgentClient } from '../../instances/agent/client.ts'
import { nextState, readState } from '../../instances/agent/state.ts'

const RETRY_MS = 1_000

export interface RunningProgramsOptions {
  readonly agent: AgentClient
  /** Of the session. */
  readonly hold: () => Disposable
  readonly ending: AbortSignal
}

export class RunningPrograms {
  readonly #options: RunningProgramsOptions
  readonly #closing = new AbortController()
  #isWatching = false
  /** Somebody else was told of programs while we asked, perhaps of newer ones. */
  #hasNews = false

  constructor(options: RunningProgramsOptions) {
    this.#options = options
    options.agent.lastState.followProcesses((running) => {
      if (running === 0) return
      this.#hasNews = true
      if (!this.#isWatching) void this.#watch()
    })
  }

  /** Stops looking. */
  close(): void {
    this.#closing.abort()
  }

  async #watch(): Promise<void> {
    const { agent, hold, ending } = this.#options
    const over = AbortSignal.any([ending, this.#closing.signal])
    this.#isWatching = true
    using acquired = new DisposableStack()
    acquired.use(hold())
    let last: AgentState | undefined
    while (!over.aborted && (this.#hasNews || !last || last.processes > 0)) {
      this.#hasNews = false
      try {
        const isKnown = last !== undefined && last.processes > 0
        last = await (isKnown
          ? nextState(agent, last!, { signal: over })
          : readState(agent, { signal: over }))
      } catch {
        // An agent that does not answer is the matter of its lease; until that is over, nothing is known.
        last = undefined
        await pause(RETRY_MS, over)
      }
    }
    this.#isWatching = false
  }
}
