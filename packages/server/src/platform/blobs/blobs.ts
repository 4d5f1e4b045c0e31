import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { newId } from '@berth/kit/ids'
import type { Db } from '../database/schema.ts'
import type { BlobCache } from './cache.ts'
import type { BlobStore } from './store.ts'

/** The row of a young blob may still be written; a blob older than this without a row is an orphan. */
const ORPHAN_AGE_MS = 3_600_000
/** A store that all servers share is swept by the first that comes, once in this time. */
const SWEEP_AGAIN_SECONDS = 50 * 60

export interface Blob {
  readonly id: string
  readonly sizeBytes: number
  readonly sha256: string
}

export interface BlobsOptions {
  readonly store: BlobStore
  /** The store's identity. */
  readonly storeId: string
  /** Copies on this machine, for a store that is elsewhere. */
  readonly cache?: BlobCache | undefined
  readonly log: Logger
}

interface Range {
  readonly start: number
  readonly end: number
}

export class Blobs {
  readonly storeId: string
  readonly #store: BlobStore
  readonly #cache: BlobCache | undefined
  readonly #log: Logger

  constructor({ store, storeId, cache, log }: BlobsOptions) {
    this.#store = store
    this.storeId = storeId
    this.#cache = cache
    this.#log = log
  }

  /** Whether all servers have the same store for sure. */
  get isRemote(): boolean {
    return this.#store.isRemote
  }

  /** Requests to a remote store that failed after all attempts. */
  get failures(): number {
    return this.#store.failures
  }

  /** Stores the bytes. `record` then writes their row, in the transaction of their owner. */
  async put(content: Readable, options: { maxBytes: number; signal: AbortSignal }): Promise<Blob> {
    // Ids are random from the first character on, which spreads them over the store's directories.
    const id = newId()
    return { id, ...(await this.#store.put(id, content, options)) }
  }

  async record(tx: Db, kind: string, blob: Blob): Promise<void> {
    const { id, sha256, sizeBytes } = blob
    await tx
      .insertInto('blobs')
      .values({ id, kind, sha256, size_bytes: String(sizeBytes), store: this.storeId })
      .execute()
  }

  read(id: string, range?: Range): Promise<Readable> {
    return this.#store.read(id, range)
  }

  /** For what is read again and again, such as the files with which each instance of an app starts. */
  async readOften(db: Db, id: string, range?: Range): Promise<Readable> {
    const cache = this.#cache
    const row =
      cache &&
      (await db.selectFrom('blobs').select(['sha256', 'size_bytes']).where('id', '=', id).executeTakeFirst())
    const copy =
      row &&
      (await cache.read({ id, sha256: row.sha256, sizeBytes: Number(row.size_bytes) }, range, () =>
        this.#store.read(id),
      ))
    return copy ?? this.#store.read(id, range)
  }

  /** Deletes the rows in the transaction that deletes their owner; `remove` then removes the bytes. */
  async forget(tx: Db, ids: readonly string[]): Promise<void> {
    if (ids.length > 0)
      await tx
        .deleteFrom('blobs')
        .where('id', 'in', [...ids])
        .execute()
  }

  /**
   * Deletes the row first: the sweep removes bytes without a row, but nothing repairs a row without bytes. That is also
   * why a store that is away is no failure: what the caller did is done, and the bytes go later.
   */
  async remove(db: Db, id: string): Promise<void> {
    await db.deleteFrom('blobs').where('id', '=', id).execute()
    await this.#cache?.remove(id)
    await this.#store.remove(id).catch((error: unknown) => {
      this.#log.warn({ err: error, blobId: id }, 'cannot remove a blob yet; the sweep will')
    })
  }

  /** Removes what crashes left behind, and reports rows whose bytes are gone. */
  async sweep(db: Db, now: Date = this.#store.now()): Promise<{ removed: number; missing: string[] }> {
    if (this.#store.isRemote && !(await this.#claimSweep(db))) return { removed: 0, missing: [] }
    const before = new Date(now.getTime() - ORPHAN_AGE_MS)
    // Reads rows first: a blob that is recorded during the sweep is too young to be removed.
    const rows = await db.selectFrom('blobs').select(['id', 'store']).execute()
    const recorded = new Map(rows.map(({ id, store }) => [id, store]))
    const found = new Set<string>()
    const adopted: string[] = []
    let removed = await this.#store.removeUnfinished(before)
    for await (const { id, modifiedAt } of this.#store.list()) {
      found.add(id)
      if (recorded.get(id) === null) adopted.push(id)
      if (recorded.has(id) || modifiedAt >= before) continue
      await this.#store.remove(id)
      removed++
    }
    await this.#adopt(db, adopted)
    const missing = [...recorded].flatMap(([id, store]) =>
      !found.has(id) && (store === null || store === this.storeId) ? [id] : [],
    )
    if (missing.length > 0) this.#log.error({ missing }, 'blobs are missing from the store')
    if (removed > 0) this.#log.info({ removed }, 'removed blobs without a record')
    return { removed, missing }
  }

  async #claimSweep(db: Db): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('blob_stores')
      .set({ swept_at: sql<string>`now()` })
      .where('id', '=', this.storeId)
      .where(
        sql<boolean>`(swept_at IS NULL OR swept_at < now() - make_interval(secs => ${SWEEP_AGAIN_SECONDS}))`,
      )
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  /** Blobs from before stores had names. */
  async #adopt(db: Db, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    await sql`UPDATE blobs SET store = ${this.storeId} WHERE store IS NULL AND id = ANY(${ids})`.execute(db)
  }
}
