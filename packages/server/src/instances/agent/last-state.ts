import type { AgentState } from '@berth/contracts/link'

type OnProcesses = (running: number) => void

/** What the agent last reported about itself, in any of its answers. */
export class LastState {
  #state: AgentState | undefined
  #onProcesses: OnProcesses | undefined

  get value(): AgentState | undefined {
    return this.#state
  }

  hear(state: AgentState): AgentState {
    this.#state = state
    this.#onProcesses?.(state.processes)
    return state
  }

  hearOfProcesses(running: number): void {
    this.#onProcesses?.(running)
  }

  /** Calls the listener with the number of processes whenever the agent reports it, and at once if it is known. There is one listener. */
  followProcesses(listener: OnProcesses): void {
    this.#onProcesses = listener
    if (this.#state) listener(this.#state.processes)
  }
}
