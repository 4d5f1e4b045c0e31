// How many more sessions this host takes: as many as the operator allows (BERTH_HOST_MAX_SESSIONS) and as its memory holds.
import { joinSignals } from '@berth/kit/abort'
import { NoCapacity, type Instances } from '../../instances/stock/instances.ts'
import type { LiveSessions } from './live-sessions.ts'

/** A session that has ended gives its place back when nothing is left of it, which is worth so long a wait. */
const CLEARING_MS = 3_000

export interface HostRoomOptions {
  readonly live: LiveSessions
  readonly instances: Pick<Instances, 'shortcomings' | 'capabilities' | 'memoryRoom'>
  /** 0 for no limit. */
  readonly maxSessions: number
}

export class HostRoom {
  readonly #options: HostRoomOptions
  /** Ids of sessions that are being opened. */
  readonly #taken = new Set<string>()

  constructor(options: HostRoomOptions) {
    this.#options = options
  }

  /** A place for the session while it is opened; then it counts as long as it is there. Rejects with NoCapacity. */
  async take(id: string, signal?: AbortSignal): Promise<Disposable> {
    if (this.#placesLeft < 1) await this.#untilCleared(signal)
    if (this.#placesLeft < 1) {
      const { maxSessions } = this.#options
      throw new NoCapacity(
        `the host has its ${maxSessions} sessions (BERTH_HOST_MAX_SESSIONS); end one or raise the limit`,
      )
    }
    this.#taken.add(id)
    return { [Symbol.dispose]: () => this.#taken.delete(id) }
  }

  /** Null for a host that takes no sessions of other servers, whatever room there is. */
  async free(): Promise<number | null> {
    const { instances } = this.#options
    if (instances.capabilities.isElsewhere || instances.shortcomings.length > 0) return null
    return Math.max(0, Math.min(this.#placesLeft, await instances.memoryRoom()))
  }

  get #placesLeft(): number {
    const { live, maxSessions } = this.#options
    if (maxSessions === 0) return Infinity
    const { starting, running, ending } = live
    const here = new Set([...this.#taken, ...starting, ...running.keys(), ...ending.keys()])
    return maxSessions - here.size
  }

  async #untilCleared(signal: AbortSignal | undefined): Promise<void> {
    const { ending } = this.#options.live
    using waiting = joinSignals(AbortSignal.timeout(CLEARING_MS), ...(signal ? [signal] : []))
    const over = new Promise<void>((resolve) => {
      waiting.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    while (ending.size > 0 && this.#placesLeft < 1 && !waiting.signal.aborted) {
      await Promise.race([over, ...ending.values()])
    }
    signal?.throwIfAborted()
  }
}
