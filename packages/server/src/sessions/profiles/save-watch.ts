// Waiting for the saves of ended sessions. A new session and a download wait until nothing is being saved into their
// profile, and the end of a session waits for its own save, so that deleting a session and using its profile keeps the
// state. Every wait has a limit.
import { KeyedChanges } from '@berth/kit/keyed-changes'
import type { Db } from '../../platform/database/schema.ts'
import type { EndedBrowser } from '../browsers/types.ts'
import * as store from './store.ts'

/** Longer than a usual save. After that, the session starts with the previous version, which is valid too. */
const WAIT_TIMEOUT_MS = 30_000
/** Below 60 s, when published clients give up waiting for an answer and repeat the request. */
const END_TIMEOUT_MS = 55_000
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
    const isRunning = () => store.isBeingSaved(this.#db, profileId)
    await this.#whileRunning(isRunning, { profileId, timeoutMs: WAIT_TIMEOUT_MS, signal })
  }

  /**
   * Resolves when the save of an ended session has succeeded or failed, or after the timeout; rejects when the signal
   * aborts first.
   */
  async whenEndSaved({ id, profile_id: profileId }: EndedBrowser, signal: AbortSignal): Promise<void> {
    if (profileId === null) return
    const isRunning = () => store.isSaving(this.#db, id)
    await this.#whileRunning(isRunning, { profileId, timeoutMs: END_TIMEOUT_MS, signal })
  }

  async #whileRunning(
    isRunning: () => Promise<boolean>,
    {
      profileId,
      timeoutMs,
      signal,
    }: { profileId: string; timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<void> {
    const deadline = performance.now() + timeoutMs
    for (let left = timeoutMs; left > 0; left = deadline - performance.now()) {
      using change = this.#changes.next(profileId, { timeoutMs: Math.min(LOOK_EVERY_MS, left), signal })
      if (!(await isRunning())) return
      await change.happened
      signal?.throwIfAborted()
    }
  }
}
