// Large objects (archives, recordings) live beside the database: the bytes in a blob store, their
// size and hash in a row. The row is written last, so a row always has its bytes. Bytes without a row
// are left over from a crash, and the sweep removes them.
import type { Readable } from 'node:stream'

export interface StoredBlob {
  readonly sizeBytes: number
  readonly sha256: string
}

export interface BlobInfo {
  readonly id: string
  readonly modifiedAt: Date
}

export interface BlobStore {
  /** Stores the whole stream or nothing. Rejects with BlobTooLarge beyond `maxBytes`. */
  put(id: string, content: Readable, options: { maxBytes: number; signal: AbortSignal }): Promise<StoredBlob>
  /** Bytes from `start` up to and including `end`. Rejects with BlobMissing. */
  read(id: string, range?: { start: number; end: number }): Promise<Readable>
  /** Removing a missing blob succeeds. */
  remove(id: string): Promise<void>
  list(): AsyncIterable<BlobInfo>
  /** Removes what interrupted `put` calls left before the given time. */
  removeUnfinished(before: Date): Promise<number>
}

export class BlobTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`Cannot store more than ${maxBytes} bytes`)
  }
}

export class BlobMissing extends Error {
  constructor(id: string) {
    super(`Cannot find blob "${id}" in the store`)
  }
}
