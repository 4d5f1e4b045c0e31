// Both kinds of freezer need a moment: a process stops at its next safe point.
import { pause } from '@berth/kit/pause'

const FREEZE_WITHIN_MS = 5_000
const LOOK_EVERY_MS = 2

export interface Freezer {
  readonly signal: AbortSignal
  readonly freeze: () => void
  readonly isFrozen: () => boolean
  readonly thaw: () => void
}

/** Repeats the request while it waits: a process that joined later can block the first one. */
export async function waitUntilFrozen({ signal, freeze, isFrozen, thaw }: Freezer): Promise<void> {
  const deadline = performance.now() + FREEZE_WITHIN_MS
  while (true) {
    signal.throwIfAborted()
    freeze()
    if (isFrozen()) return
    if (performance.now() > deadline) {
      thaw()
      throw new Error(`Cannot freeze: some process did not stop within ${FREEZE_WITHIN_MS / 1000} s`)
    }
    await pause(LOOK_EVERY_MS)
  }
}
