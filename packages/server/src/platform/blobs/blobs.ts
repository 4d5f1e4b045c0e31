import type { Readable } from 'node:stream'
import type { Logger } from 'pino'
import { newId } from '@berth/kit/ids'
import type { Db } from '../database/schema.ts'
import type { BlobStore } from './store.ts'

/** A blob without a row may be one whose row is about to be written; after this long it is not. */
const ORPHAN_AGE_MS = 3_600_000

export interface Blob {
  readonly id: string
  readonly sizeBytes: number
  readonly sha256: string
}

export class Blobs {
  readonly #store: BlobStore
  readonly #log: Logger

  constructor({ store, log }: { store: BlobStore; log: Logger }) {
    this.#store = store
    this.#log = log
  }

  /** Stores the bytes; `record` then makes them known, in the transaction of what they belong to. */
  async put(content: Readable, options: { maxBytes: number; signal: AbortSignal }): Promise<Blob> {
    // Ids are random from their first letter on, which spreads them over the store's directories.
    const id = newId()
    return { id, ...(await this.#store.put(id, content, options)) }
  }

  async record(tx: Db, kind: string, blob: Blob): Promise<void> {
    await tx
      .insertInto('blobs')
      .values({ id: blob.id, kind, sha256: blob.sha256, size_bytes: String(blob.sizeBytes) })
      .execute()
  }

  read(id: string, range?: { start: number; end: number }): Promise<Readable> {
    return this.#store.read(id, range)
  }

  /** In the transaction that removes what they belonged to; `remove` then removes their bytes. */
  async forget(tx: Db, ids: readonly string[]): Promise<void> {
    if (ids.length > 0)
      await tx
        .deleteFrom('blobs')
        .where('id', 'in', [...ids])
        .execute()
  }

  /** Row first: bytes without a row are swept, a row without bytes would be a lie. */
  async remove(db: Db, id: string): Promise<void> {
    await db.deleteFrom('blobs').where('id', '=', id).execute()
    await this.#store.remove(id)
  }

  /** Removes what crashes left, and reports rows whose bytes are gone. Runs at every start. */
  async sweep(db: Db, now: Date = new Date()): Promise<{ removed: number; missing: string[] }> {
    const before = new Date(now.getTime() - ORPHAN_AGE_MS)
    // Rows first: a blob that is recorded while we look is younger than what we remove.
    const rows = await db.selectFrom('blobs').select('id').execute()
    const recorded = new Set(rows.map((row) => row.id))
    const found = new Set<string>()
    let removed = await this.#store.removeUnfinished(before)
    for await (const { id, modifiedAt } of this.#store.list()) {
      found.add(id)
      if (recorded.has(id) || modifiedAt >= before) continue
      await this.#store.remove(id)
      removed++
    }
    const missing = [...recorded].filter((id) => !found.has(id))
    if (missing.length > 0) this.#log.error({ missing }, 'blobs are missing from the store')
    if (removed > 0) this.#log.info({ removed }, 'removed blobs without a record')
    return { removed, missing }
  }
}
