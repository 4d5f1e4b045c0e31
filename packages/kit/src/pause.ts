import { setTimeout as delay } from 'node:timers/promises'

/** Waits. Resolves early when the signal fires. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
    if (!signal?.aborted) throw error
  })
}
