// Limits concurrency. Callers beyond the limit wait in order of arrival.

export class Semaphore {
  readonly #waiting = new Set<() => void>()
  #free: number

  constructor(places: number) {
    this.#free = places
  }

  /** Rejects with the signal's reason if it fires while waiting. Dispose of the result to leave. */
  async enter(signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#wait(signal)
    let isInside = true
    return {
      [Symbol.dispose]: () => {
        if (!isInside) return
        isInside = false
        const [next] = this.#waiting
        if (next) next()
        else this.#free++
      },
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#waiting.delete(enter)
        signal?.removeEventListener('abort', leave)
      }
      const enter = () => {
        settle()
        resolve()
      }
      const leave = () => {
        settle()
        reject(signal!.reason as Error)
      }
      this.#waiting.add(enter)
      signal?.addEventListener('abort', leave)
    })
  }
}
