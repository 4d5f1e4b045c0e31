// Signals of different lifetimes, joined and let go of again.

export interface JoinedSignal extends Disposable {
  readonly signal: AbortSignal
}

/**
 * Fires with the first of them. Not AbortSignal.any(), which cannot be let go of: one that lives as long as the server
 * would keep a trace of every request. Dispose of it when the work is over.
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
 * Stops waiting when the signal fires, and rejects with its reason. The work itself goes on, and what becomes of it is
 * nobody's concern then: whoever calls this cleans up.
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
