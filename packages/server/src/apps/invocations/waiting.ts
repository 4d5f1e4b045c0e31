// Waits for an invocation to end. It wakes up on announcements of any server, and at intervals.
import type { Db } from '../../platform/database/schema.ts'
import * as store from './store.ts'
import type { InvocationRecord } from './types.ts'

const LOOK_EVERY_MS = 2_000

export class Waiting {
  readonly #db: Db
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(db: Db) {
    this.#db = db
  }

  changed(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake()
  }

  /** The record once it has ended; undefined when the signal fires first. */
  async untilOver(id: string, signal: AbortSignal): Promise<InvocationRecord | undefined> {
    for (;;) {
      const change = this.#change(id, signal)
      const record = await store.findInvocation(this.#db, null, id).catch(() => undefined)
      if (record?.finished_at) {
        change.cancel()
        return record
      }
      await change.happened
      if (signal.aborted) return undefined
    }
  }

  /** Subscribes before the database is read, so that no change is missed. */
  #change(id: string, signal: AbortSignal): { happened: Promise<void>; cancel: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(id) ?? new Set<() => void>()
    this.#waiting.set(id, waiting)
    const timer = setTimeout(() => cancel(), LOOK_EVERY_MS)
    const cancel = () => {
      clearTimeout(timer)
      waiting.delete(cancel)
      if (waiting.size === 0) this.#waiting.delete(id)
      signal.removeEventListener('abort', cancel)
      resolve()
    }
    waiting.add(cancel)
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
    return { happened: promise, cancel }
  }
}
