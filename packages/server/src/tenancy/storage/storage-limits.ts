// The limit on what a project stores. The figure is a sum over rows, so it is right however a server ends.
import type { ProjectStorage, StorageKind } from '@berth/contracts/projects'
import { KeyedLimit } from '@berth/kit/keyed-limit'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { findUse, lockStorage, type StoredKind } from './store.ts'
import { roomFor, StorageFull, usedBytes, type StorageUse } from './use.ts'

/** Uploads of one project that a server takes at once: each holds a file of its own until it is complete. */
const MAX_UPLOADS_PER_PROJECT = 32
const RETRY_AFTER_SECONDS = '5'
/** What grows by itself is checked again and again, so those checks share one sum for each project. */
const RECENT_MS = 2_000

/** Something that is about to be stored. */
export interface StorageWrite {
  readonly projectId: string
  readonly kind: StorageKind
  /** For the refusal: "import the archive". */
  readonly action: string
}

export interface StorageLimitsOptions {
  readonly db: Db
  readonly kinds: readonly StoredKind[]
  /** For a project without a limit of its own; 0 for none. */
  readonly defaultMaxBytes: number
}

export class StorageLimits {
  readonly #options: StorageLimitsOptions
  readonly #uploads = new KeyedLimit(MAX_UPLOADS_PER_PROJECT)
  readonly #recent = new Map<string, { readonly at: number; readonly use: Promise<StorageUse> }>()
  #refusedCount = 0

  constructor(options: StorageLimitsOptions) {
    this.#options = options
  }

  get kinds(): readonly StoredKind[] {
    return this.#options.kinds
  }

  /** Writes that this server has refused because a project was full. */
  get refusedCount(): number {
    return this.#refusedCount
  }

  async use(db: Db, projectId: string): Promise<StorageUse> {
    const { kinds, defaultMaxBytes } = this.#options
    const found = await findUse(db, projectId, kinds)
    if (!found) throw new AppError('not_found', `Cannot find project "${projectId}"`)
    return {
      projectId,
      projectName: found.name,
      maxBytes: found.maxBytes ?? (defaultMaxBytes || Infinity),
      byKind: found.byKind,
    }
  }

  /** Before the bytes of an upload arrive. Rejects with 413 or 429; dispose of the result when the upload is over. */
  async begin(write: StorageWrite): Promise<Disposable> {
    const place = this.#uploads.enter(write.projectId)
    if (!place) {
      throw new AppError(
        'too_many_requests',
        `Cannot ${write.action}: ${MAX_UPLOADS_PER_PROJECT} uploads of the project are under way; send fewer at once`,
        { headers: { 'retry-after': RETRY_AFTER_SECONDS } },
      )
    }
    try {
      await this.expectRoom(write)
      return place
    } catch (error) {
      place[Symbol.dispose]()
      throw error
    }
  }

  /** Rejects with 413 when nothing more fits. */
  async expectRoom(write: StorageWrite): Promise<void> {
    const use = await this.use(this.#options.db, write.projectId)
    if (roomFor(write.kind, use) <= 0) throw this.#full(write, use, { isAdded: false })
  }

  /** As it was up to two seconds ago. */
  async recentUse(projectId: string): Promise<StorageUse> {
    const now = performance.now()
    for (const [id, { at }] of this.#recent) if (now - at > RECENT_MS) this.#recent.delete(id)
    const known = this.#recent.get(projectId)
    if (known) return known.use
    const use = this.use(this.#options.db, projectId)
    this.#recent.set(projectId, { at: now, use })
    return use
  }

  /**
   * The part of a transaction that adds rows; it must come first in it. Rejects with 413, which rolls the transaction
   * back, when they do not fit. Rows that `work` removes make room for those that it adds.
   */
  async guard<T>(tx: Db, write: StorageWrite, work: () => Promise<T>): Promise<T> {
    await lockStorage(tx, write.projectId)
    const result = await work()
    const use = await this.use(tx, write.projectId)
    if (roomFor(write.kind, use) < 0) throw this.#full(write, use, { isAdded: true })
    return result
  }

  #full({ kind, action }: StorageWrite, use: StorageUse, { isAdded }: { isAdded: boolean }): StorageFull {
    this.#refusedCount++
    return new StorageFull(kind, use, { action, isAdded })
  }
}

export function toStorage(use: StorageUse): ProjectStorage {
  return {
    max_bytes: Number.isFinite(use.maxBytes) ? use.maxBytes : null,
    used_bytes: usedBytes(use),
    by_kind: { ...use.byKind },
  }
}
