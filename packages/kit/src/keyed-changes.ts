/** Waiting for news of something that has a key. News may get lost on the way, so a wait has a time. */
export class KeyedChanges {
  readonly #waiting = new Map<string, Set<() => void>>()

  changed(key: string): void {
    for (const wake of this.#waiting.get(key) ?? []) wake()
  }

  /**
   * Begin to wait before you look at how things are, so that nothing in between is missed. `happened` resolves with
   * the next change, the end of the time, the signal or the disposal, whichever is first.
   */
  next(
    key: string,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): NextChange {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(key) ?? new Set<() => void>()
    this.#waiting.set(key, waiting)
    const done = () => {
      clearTimeout(timer)
      waiting.delete(done)
      if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, timeoutMs)
    waiting.add(done)
    signal?.addEventListener('abort', done)
    if (signal?.aborted) done()
    return { happened: promise, [Symbol.dispose]: done }
  }
}

export interface NextChange extends Disposable {
  readonly happened: Promise<void>
}
