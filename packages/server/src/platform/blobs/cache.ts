// Copies of blobs from a store that is elsewhere, in the data directory: sealed as they are in the store, at most so many
// bytes, the least recently used ones go first. A copy gets its name when it is complete, on disk, and has the sha256 of
// its row; after a start, each copy is checked again before it is used. Without a cache everything works, only slower.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Logger } from 'pino'
import { newId } from '@berth/kit/ids'
import { crashPoint } from '../errors/crash-point.ts'
import { checkBlobId, isBlobId } from './blob-id.ts'

const UNFINISHED = 'unfinished'
const READ_BYTES = 1024 * 1024
/** One blob never takes more than this part of the cache, or it would push out all others. */
const MAX_SHARE = 0.5
/** What must stay free on the disk. */
const MIN_FREE_BYTES = 1024 * 1024 * 1024

export interface WantedBlob {
  readonly id: string
  readonly sha256: string
  readonly sizeBytes: number
}

interface Copy {
  sizeBytes: number
  usedAt: number
  /** By this process. */
  isChecked: boolean
}

export class BlobCache {
  readonly #root: string
  readonly #maxBytes: number
  readonly #log: Logger
  readonly #copies = new Map<string, Copy>()
  readonly #filling = new Map<string, Promise<boolean>>()
  readonly #closing = new AbortController()
  #bytes = 0
  #reserved = 0

  private constructor(root: string, { maxBytes, log }: { maxBytes: number; log: Logger }) {
    this.#root = root
    this.#maxBytes = maxBytes
    this.#log = log
  }

  /** Removes what a kill left unfinished, and what is too much. */
  static async open(root: string, options: { maxBytes: number; log: Logger }): Promise<BlobCache> {
    await rm(join(root, UNFINISHED), { recursive: true, force: true })
    await mkdir(join(root, UNFINISHED), { recursive: true, mode: 0o700 })
    const cache = new BlobCache(root, options)
    for (const name of await readdir(root)) {
      const info = isBlobId(name) && name !== UNFINISHED ? await stat(join(root, name)) : undefined
      if (info?.isFile()) cache.#add(name, { sizeBytes: info.size, usedAt: info.mtimeMs, isChecked: false })
    }
    await cache.#makeRoom()
    return cache
  }

  /** Undefined if there is no copy and none can be made; then read from the store. */
  async read(
    blob: WantedBlob,
    range: { start: number; end: number } | undefined,
    fetch: () => Promise<Readable>,
  ): Promise<Readable | undefined> {
    const { id } = blob
    if (!this.#copies.get(id)?.isChecked && !(await this.#fillOnce(blob, fetch))) return undefined
    // Once it is open, it stays readable, also when it is removed.
    const file = await open(this.#pathOf(id), 'r').catch(() => undefined)
    const copy = this.#copies.get(id)
    if (!file || !copy) {
      await file?.close()
      this.#drop(id)
      return undefined
    }
    copy.usedAt = Date.now()
    const now = new Date(copy.usedAt)
    await file.utimes(now, now)
    return file.createReadStream({ ...range, autoClose: true, highWaterMark: READ_BYTES })
  }

  async remove(id: string): Promise<void> {
    this.#drop(id)
    await rm(this.#pathOf(id), { force: true })
  }

  /** Stops what is being copied. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#filling.values())
  }

  #fillOnce(blob: WantedBlob, fetch: () => Promise<Readable>): Promise<boolean> {
    const under = this.#filling.get(blob.id)
    if (under) return under
    const filling = this.#fill(blob, fetch).finally(() => this.#filling.delete(blob.id))
    this.#filling.set(blob.id, filling)
    return filling
  }

  /** False when there can be no copy. Never fails: the store has what the cache has not. */
  async #fill(blob: WantedBlob, fetch: () => Promise<Readable>): Promise<boolean> {
    const { id, sha256, sizeBytes } = blob
    try {
      if (this.#copies.has(id)) {
        if ((await this.#hashOf(id)) === sha256) {
          const copy = this.#copies.get(id)
          if (copy) copy.isChecked = true
          return copy !== undefined
        }
        this.#log.warn({ blobId: id }, 'a copy of a blob is damaged and is fetched again')
        await this.remove(id)
      }
      if (sizeBytes > this.#maxBytes * MAX_SHARE) return false
      using room = this.#reserve(sizeBytes)
      await this.#makeRoom()
      // Others are being copied at the moment, and need all of it.
      if (room.isTooMuch() || !(await this.#hasDisk(sizeBytes))) return false
      await this.#fetch(blob, await fetch())
      return true
    } catch (error) {
      // Reading from the store itself will say what is wrong with it.
      if (!this.#closing.signal.aborted)
        this.#log.warn({ err: error, blobId: id }, 'cannot keep a copy of a blob')
      return false
    }
  }

  async #fetch({ id, sha256, sizeBytes }: WantedBlob, content: Readable): Promise<void> {
    const unfinished = join(this.#root, UNFINISHED, newId())
    const hash = createHash('sha256')
    let bytes = 0
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length
        hash.update(chunk)
        done(bytes > sizeBytes ? new Error('the blob is longer than its row says') : null, chunk)
      },
    })
    try {
      const file = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true })
      await pipeline(content, measure, file, { signal: this.#closing.signal })
      if (hash.digest('hex') !== sha256) throw new Error('the blob has another sha256 than its row says')
      crashPoint('blob-copied')
      await rename(unfinished, this.#pathOf(id))
    } catch (error) {
      await rm(unfinished, { force: true })
      throw error
    }
    this.#add(id, { sizeBytes, usedAt: Date.now(), isChecked: true })
  }

  async #hashOf(id: string): Promise<string> {
    const hash = createHash('sha256')
    const file = createReadStream(this.#pathOf(id), { highWaterMark: READ_BYTES })
    for await (const chunk of file) hash.update(chunk as Buffer)
    return hash.digest('hex')
  }

  async #hasDisk(sizeBytes: number): Promise<boolean> {
    const { bavail, bsize } = await statfs(this.#root)
    return bavail * bsize - sizeBytes > MIN_FREE_BYTES
  }

  /** Counts bytes that are on their way. */
  #reserve(sizeBytes: number): Disposable & { isTooMuch: () => boolean } {
    this.#reserved += sizeBytes
    return {
      isTooMuch: () => this.#bytes + this.#reserved > this.#maxBytes,
      [Symbol.dispose]: () => (this.#reserved -= sizeBytes),
    }
  }

  async #makeRoom(): Promise<void> {
    const oldestFirst = [...this.#copies].toSorted(([, one], [, other]) => one.usedAt - other.usedAt)
    for (const [id] of oldestFirst) {
      if (this.#bytes + this.#reserved <= this.#maxBytes) return
      await this.remove(id)
    }
  }

  #add(id: string, copy: Copy): void {
    this.#drop(id)
    this.#copies.set(id, copy)
    this.#bytes += copy.sizeBytes
  }

  #drop(id: string): void {
    this.#bytes -= this.#copies.get(id)?.sizeBytes ?? 0
    this.#copies.delete(id)
  }

  #pathOf(id: string): string {
    return join(this.#root, checkBlobId(id))
  }
}
