// A running recording: a local append-only file, sealed piece by piece. After a kill all complete pieces are left, and
// the next open cuts off the incomplete one.
//
//   4 bytes: length of the piece | the piece, see blobs/sealed-content.ts
import { mkdir, open, readdir, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { readAt } from '@berth/codecs/bytes/read-at'
import { openPiece, sealPiece, type ContentLock } from '../../platform/blobs/sealed-content.ts'

const HEAD_BYTES = 4
/** More than any single write. */
const MAX_PIECE_BYTES = 64 * 1024 * 1024
/** A power cut may lose this much; a kill loses nothing. */
const SYNC_MS = 5_000
const SUFFIX = '.recording'

/** The directory with the journals of this server. */
export class Journals {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async open(directory: string): Promise<Journals> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    return new Journals(directory)
  }

  journal(id: string, key: Buffer): Journal {
    return new Journal(this.#pathOf(id), { key, context: `replay-journal/${id}` })
  }

  async remove(id: string): Promise<void> {
    await rm(this.#pathOf(id), { force: true })
  }

  async list(): Promise<string[]> {
    const names = await readdir(this.#directory)
    return names.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length))
  }

  #pathOf(id: string): string {
    if (!/^[0-9a-f-]{36}$/.test(id)) throw new Error(`Cannot use "${id}" as the id of a recording`)
    return join(this.#directory, id + SUFFIX)
  }
}

export class Journal {
  readonly #path: string
  readonly #lock: ContentLock
  #file: FileHandle | undefined
  #pieces = 0
  #bytes = 0
  #syncedAt = performance.now()

  constructor(path: string, lock: ContentLock) {
    this.#path = path
    this.#lock = lock
  }

  /** Size of the file. */
  get bytes(): number {
    return this.#bytes
  }

  /** Opens the journal for appending. Passes each existing piece to `onPiece`. */
  async open(onPiece: (plain: Buffer) => void): Promise<void> {
    const file = await open(this.#path, 'a+', 0o600)
    try {
      for await (const { plain, end } of this.#wholePieces(file)) {
        onPiece(plain)
        this.#pieces++
        this.#bytes = end
      }
      await file.truncate(this.#bytes)
      this.#file = file
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async append(plain: Buffer): Promise<void> {
    const sealed = sealPiece(plain, this.#lock, this.#pieces)
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt32BE(sealed.length)
    const bytes = Buffer.concat([head, sealed])
    await this.#file!.appendFile(bytes)
    this.#pieces++
    this.#bytes += bytes.length
    const now = performance.now()
    if (now - this.#syncedAt < SYNC_MS) return
    this.#syncedAt = now
    await this.#file!.datasync()
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  /** All complete pieces from the start. */
  async *read(): AsyncIterable<Buffer> {
    const file = await open(this.#path, 'r')
    try {
      for await (const { plain } of this.#wholePieces(file)) yield plain
    } finally {
      await file.close()
    }
  }

  async *#wholePieces(file: FileHandle): AsyncIterable<{ plain: Buffer; end: number }> {
    const { size } = await file.stat()
    let at = 0
    for (let number = 0; at + HEAD_BYTES <= size; number++) {
      const head = await readPart(file, at, HEAD_BYTES)
      const length = head.readUInt32BE(0)
      if (length > MAX_PIECE_BYTES || at + HEAD_BYTES + length > size) return
      const sealed = await readPart(file, at + HEAD_BYTES, length)
      at += HEAD_BYTES + length
      const plain = tryOpen(sealed, this.#lock, number)
      // A power cut may leave the length of a file without its content.
      if (!plain) return
      yield { plain, end: at }
    }
  }
}

function tryOpen(sealed: Buffer, lock: ContentLock, number: number): Buffer | undefined {
  try {
    return openPiece(sealed, lock, number)
  } catch {
    return undefined
  }
}

const cutOff = () => new Error('A recording became shorter while it was read')

function readPart(file: FileHandle, position: number, length: number): Promise<Buffer> {
  return readAt(file, { position, length, cutOff })
}
