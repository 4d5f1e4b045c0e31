// Joins abort signals with different lifetimes.

export interface JoinedSignal extends Disposable {
  readonly signal: AbortSignal
}

/**
 * Fires when the first signal fires. AbortSignal.any() cannot be disposed of, so a signal that lives as long as the server
 * would collect a reference for each request. Dispose of the result when the work ends.
 */
export function joinSignals(...signals: readonly AbortSignal[]): JoinedSignal {
  const joined = new AbortController()
  const listeners = signals.map((signal) => ({ signal, fire: () => joined.abort(signal.reason) }))
  for (const { signal, fire } of listeners) {
    if (signal.aborted) fire()
    else signal.addEventListener('abort', fire)
  }
  return {
    signal: joined.signal,
    [Symbol.dispose]: () => {
      for (const { signal, fire } of listeners) signal.removeEventListener('abort', fire)
    },
  }
}

/**
 * Stops waiting when the signal fires, and rejects with its reason. The work itself continues, and its result is ignored.
 * The caller must clean up.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  const fired = Promise.withResolvers<never>()
  const fire = () => fired.reject(signal.reason)
  work.catch(() => {})
  if (signal.aborted) throw signal.reason
  signal.addEventListener('abort', fire)
  try {
    return await Promise.race([work, fired.promise])
  } finally {
    signal.removeEventListener('abort', fire)
  }
}
