// Asks again until something is so.
import { setTimeout as pause } from 'node:timers/promises'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2_000

export async function until<Value>(
  ask: () => Promise<Value>,
  { isDone, signal }: { isDone: (value: Value) => boolean; signal: AbortSignal },
): Promise<Value> {
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 1.5, LONGEST_PAUSE_MS)) {
    const value = await ask()
    if (isDone(value)) return value
    await pause(wait, undefined, { signal })
  }
}
