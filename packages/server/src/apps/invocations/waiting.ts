// Waits for an invocation to end. It wakes up on announcements of any server, and at intervals.
import { KeyedChanges } from '@berth/kit/keyed-changes'
import type { Db } from '../../platform/database/schema.ts'
import * as store from './store.ts'
import type { InvocationRecord } from './types.ts'

const LOOK_EVERY_MS = 2_000

export class Waiting {
  readonly #db: Db
  readonly #changes = new KeyedChanges()

  constructor(db: Db) {
    this.#db = db
  }

  changed(id: string): void {
    this.#changes.changed(id)
  }

  /** The record once it has ended; undefined when the signal fires first. */
  async untilOver(id: string, signal: AbortSignal): Promise<InvocationRecord | undefined> {
    for (;;) {
      using change = this.#changes.next(id, { timeoutMs: LOOK_EVERY_MS, signal })
      const record = await store.findInvocation(this.#db, null, id).catch(() => undefined)
      if (record?.finished_at) return record
      await change.happened
      if (signal.aborted) return undefined
    }
  }
}
