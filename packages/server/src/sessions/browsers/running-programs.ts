// A spawned program holds its session until the program ends. Any answer of the agent may report that programs run.
// From then on, long-polling calls ask the agent until none is left.
import type { AgentState } from '@berth/contracts/link'
import { pause } from '@berth/kit/pause'
import type { AgentClient } from '../../instances/agent/client.ts'
import { nextState, readState } from '../../instances/agent/state.ts'

const RETRY_MS = 1_000

export interface RunningProgramsOptions {
  readonly agent: AgentClient
  /** Holds the session. */
  readonly hold: () => Disposable
  readonly ending: AbortSignal
}

export class RunningPrograms {
  readonly #options: RunningProgramsOptions
  readonly #closing = new AbortController()
  #isWatching = false
  /** Another call reported running programs during our own call, perhaps newer ones. */
  #hasNews = false

  constructor(options: RunningProgramsOptions) {
    this.#options = options
    options.agent.lastState.followProcesses((running) => {
      if (running === 0) return
      this.#hasNews = true
      if (!this.#isWatching) void this.#watch()
    })
  }

  /** Stops watching. */
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
        // A silent agent loses its instance lease, which ends the session. Until then, keep asking.
        last = undefined
        await pause(RETRY_MS, over)
      }
    }
    this.#isWatching = false
  }
}
