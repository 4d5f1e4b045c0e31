// Who starts from a profile that a session is just being saved into waits for that, so that a session that was
// deleted and the next one are like one after the other; but not for ever.
import { pause } from '@berth/kit/pause'
import type { Db } from '../../platform/database/schema.ts'
import * as store from './store.ts'

/** Beyond what a save takes. When one takes longer, the version before it is a good one. */
const WAIT_TIMEOUT_MS = 30_000
/** Announcements may be missed. */
const LOOK_EVERY_MS = 500

export class SaveWatch {
  readonly #db: Db
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Something became of the profile, on whichever server. */
  announced(profileId: string): void {
    for (const wake of this.#waiting.get(profileId) ?? []) wake()
  }

  /** Resolves when nothing is being saved into it, or after a while; rejects when the signal fires first. */
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
