// Keeps the events of each project within its share of what it may store: the oldest are deleted first, whichever
// session they are of.
import type { Logger } from 'pino'
import type { Db } from '../../platform/database/schema.ts'
import type { StorageLimits } from '../../tenancy/storage/storage-limits.ts'
import { maxOf, usedBytes, type StorageUse } from '../../tenancy/storage/use.ts'
import * as store from './store.ts'

const CHECK_EVERY_MS = 5_000
/** A project above its share is trimmed to this part of it. */
const KEPT_PART = 0.9
/** Kept also in a project that is full of other things, because readers get only what is stored. */
const MIN_BYTES = 1024 * 1024
const SESSIONS_AT_ONCE = 100

export interface ProjectShareOptions {
  readonly db: Db
  readonly storage: StorageLimits
  readonly log: Logger
  /** Some events of a session were deleted; so many bytes are left. */
  readonly onDropped: (sessionId: string, leftBytes: number) => void
  /** The oldest events of the project were deleted. */
  readonly onTrimmed: (projectId: string) => void
}

export class ProjectShare {
  readonly #options: ProjectShareOptions
  /** Projects that were checked a moment ago, and whether to check them again after it. */
  readonly #checked = new Map<string, { isStale: boolean }>()

  constructor(options: ProjectShareOptions) {
    this.#options = options
  }

  /** Called whenever events of the project were stored. Nobody waits for it. */
  check(projectId: string): void {
    const { log } = this.#options
    const known = this.#checked.get(projectId)
    if (known) {
      known.isStale = true
      return
    }
    const checked = { isStale: false }
    this.#checked.set(projectId, checked)
    setTimeout(() => {
      this.#checked.delete(projectId)
      if (checked.isStale) this.check(projectId)
    }, CHECK_EVERY_MS).unref()
    this.#trim(projectId).catch((error: unknown) =>
      log.debug({ err: error, projectId }, 'cannot check now how much telemetry a project stores'),
    )
  }

  async #trim(projectId: string): Promise<void> {
    const { db, storage, log, onDropped, onTrimmed } = this.#options
    const use = await storage.recentUse(projectId)
    const { telemetry: stored } = use.byKind
    const max = maxTelemetry(use)
    if (stored <= max) return
    let excess = stored - Math.floor(max * KEPT_PART)
    for (const { sessionId, bytes } of await store.listOldest(db, projectId, SESSIONS_AT_ONCE)) {
      const left = await store.dropOldest(db, sessionId, Math.max(0, bytes - excess))
      excess -= bytes - left
      onDropped(sessionId, left)
      if (excess <= 0) break
    }
    log.info({ projectId, stored, max }, 'deleted the oldest telemetry of a project that may not store more')
    onTrimmed(projectId)
  }
}

export function maxTelemetry(use: StorageUse): number {
  const others = usedBytes(use) - use.byKind.telemetry
  return Math.max(MIN_BYTES, Math.min(maxOf('telemetry', use), use.maxBytes - others))
}
