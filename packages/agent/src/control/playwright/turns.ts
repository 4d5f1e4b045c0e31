// Calls that run one after another. Not too many may wait.
import { Semaphore } from '@berth/kit/semaphore'
import { ControlError } from '../calls/operation.ts'

const MAX_WAITING = 32

export class Turns {
  readonly #turns = new Semaphore(1)
  /** The one that runs, too. */
  #waiting = 0

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      throw new ControlError(
        'too_many_requests',
        `Cannot run code: ${MAX_WAITING} others wait for their turn`,
      )
    }
    this.#waiting++
    try {
      const turn = await this.#turns.enter(signal)
      return await work().finally(() => turn[Symbol.dispose]())
    } finally {
      this.#waiting--
    }
  }
}
