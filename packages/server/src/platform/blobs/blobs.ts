import type { Readable } from 'node:stream'
import type { Logger } from 'pino'
import { newId } from '@berth/kit/ids'
import type { Db } from '../database/schema.ts'
import type { BlobStore } from './store.ts'

/** The row of a young blob may still be written; a blob older than this without a row is an orphan. */
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

  /** Stores the bytes. `record` then writes their row, in the transaction of their owner. */
  async put(content: Readable, options: { maxBytes: number; signal: AbortSignal }): Promise<Blob> {
    // Ids are random from the first character on, which spreads them over the store's directories.
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

  /** Deletes the rows in the transaction that deletes their owner; `remove` then removes the bytes. */
  async forget(tx: Db, ids: readonly string[]): Promise<void> {
    if (ids.length > 0)
      await tx
        .deleteFrom('blobs')
        .where('id', 'in', [...ids])
        .execute()
  }

  /** Deletes the row first: the sweep removes bytes without a row, but nothing repairs a row without bytes. */
  async remove(db: Db, id: string): Promise<void> {
    await db.deleteFrom('blobs').where('id', '=', id).execute()
    await this.#store.remove(id)
  }

  /** Removes what crashes left behind, and reports rows whose bytes are gone. Runs at every start. */
  async sweep(db: Db, now: Date = new Date()): Promise<{ removed: number; missing: string[] }> {
    const before = new Date(now.getTime() - ORPHAN_AGE_MS)
    // Reads rows first: a blob that is recorded during the sweep is too young to be removed.
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
