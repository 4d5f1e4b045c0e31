// A new session waits while another session is being saved into its profile, so that deleting a session and creating
// the next one keeps the state. The wait has a limit.
import { pause } from '@berth/kit/pause'
import type { Db } from '../../platform/database/schema.ts'
import * as store from './store.ts'

/** Longer than a usual save. After that, the session starts with the previous version, which is valid too. */
const WAIT_TIMEOUT_MS = 30_000
/** Announcements may be missed. */
const LOOK_EVERY_MS = 500

export class SaveWatch {
  readonly #db: Db
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Called when any server has changed the profile or finished a save. */
  announced(profileId: string): void {
    for (const wake of this.#waiting.get(profileId) ?? []) wake()
  }

  /** Resolves when no save is running, or after the timeout; rejects when the signal aborts first. */
  async whenSaved(profileId: string, signal?: AbortSignal): Promise<void> {
    const deadline = performance.now() + WAIT_TIMEOUT_MS
    while ((await store.isBeingSaved(this.#db, profileId)) && performance.now() < deadline) {
      await this.#next(profileId, signal)
      signal?.throwIfAborted()
    }
  }

  async #next(profileId: string, signal: AbortSignal | undefined): Promise<void> {
    const woken = new AbortController()
    const wake = () => woken.abort()
    if (signal?.aborted) return
    signal?.addEventListener('abort', wake)
    const others = this.#waiting.get(profileId) ?? new Set()
    this.#waiting.set(profileId, others.add(wake))
    await pause(LOOK_EVERY_MS, woken.signal)
    signal?.removeEventListener('abort', wake)
    others.delete(wake)
    if (others.size === 0 && this.#waiting.get(profileId) === others) this.#waiting.delete(profileId)
  }
}
