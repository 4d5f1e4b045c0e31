// Large objects (archives, recordings) live beside the database: the bytes in a blob store, their
// size and hash in a row. The row is written last, so a row always has its bytes. Bytes without a row
// are left over from a crash, and the sweep removes them.
import type { Readable } from 'node:stream'
import { AppError } from '../errors/app-error.ts'

export interface StoredBlob {
  readonly sizeBytes: number
  readonly sha256: string
}

export interface BlobInfo {
  readonly id: string
  readonly modifiedAt: Date
}

export interface BlobStore extends Disposable {
  /** For people: where it is. */
  readonly location: string
  /** Whether all servers have the same one, so that it is swept by one server at a time. */
  readonly isRemote: boolean
  /** Its name for ever, kept in the store itself; made by the first server that asks. */
  identity(): Promise<string>
  /** Requests that failed after all attempts. */
  readonly failures: number
  /** By the clock that gives blobs their times. */
  now(): Date
  /** Stores the whole stream or nothing. Rejects with BlobTooLarge beyond `maxBytes`. An id is used once. */
  put(id: string, content: Readable, options: { maxBytes: number; signal: AbortSignal }): Promise<StoredBlob>
  /** Bytes from `start` up to and including `end`. Rejects with BlobMissing. */
  read(id: string, range?: { start: number; end: number }): Promise<Readable>
  /** Removing a missing blob succeeds. */
  remove(id: string): Promise<void>
  list(): AsyncIterable<BlobInfo>
  /** Removes what interrupted `put` calls left before the given time. */
  removeUnfinished(before: Date): Promise<number>
}

/** The store does not do what it should. The cause is for the operator; the message is for everybody. */
export class BlobStoreFailure extends AppError {
  constructor(what: string, options: { cause: unknown }) {
    super(
      'unavailable',
      `Cannot ${what}: the store of files does not answer as it should; try again`,
      options,
    )
    this.name = 'BlobStoreFailure'
  }
}

/** An id that the store has already. */
export class BlobExists extends Error {
  constructor(id: string) {
    super(`Cannot store blob "${id}": the store has another one with this id`)
  }
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
