// A new session waits while another session is being saved into its profile, so that deleting a session and creating
// the next one keeps the state. The wait has a limit.
import { KeyedChanges } from '@berth/kit/keyed-changes'
import type { Db } from '../../platform/database/schema.ts'
import * as store from './store.ts'

/** Longer than a usual save. After that, the session starts with the previous version, which is valid too. */
const WAIT_TIMEOUT_MS = 30_000
/** Announcements may be missed. */
const LOOK_EVERY_MS = 500

export class SaveWatch {
  readonly #db: Db
  readonly #changes = new KeyedChanges()

  constructor(db: Db) {
    this.#db = db
  }

  /** Called when any server has changed the profile or finished a save. */
  announced(profileId: string): void {
    this.#changes.changed(profileId)
  }

  /** Resolves when no save is running, or after the timeout; rejects when the signal aborts first. */
  async whenSaved(profileId: string, signal?: AbortSignal): Promise<void> {
    const deadline = performance.now() + WAIT_TIMEOUT_MS
    while (performance.now() < deadline) {
      using change = this.#changes.next(profileId, { timeoutMs: LOOK_EVERY_MS, signal })
      if (!(await store.isBeingSaved(this.#db, profileId))) return
      await change.happened
      signal?.throwIfAborted()
    }
  }
}
