// Stores blobs as files:  <root>/<first two characters of the id>/<id>,  and <root>/unfinished/<id>-<random>
// while they arrive. A file gets its final name only when it is complete and on disk.
import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { newId } from '@berth/kit/ids'
import { crashPoint } from '../errors/crash-point.ts'
import { syncDirectory, writeFileDurably } from '../files/durable-file.ts'
import { checkBlobId } from './blob-id.ts'
import { BlobMissing, BlobTooLarge, type BlobInfo, type BlobStore, type StoredBlob } from './store.ts'

/** Each read is a round trip to a thread: with Node's 64 KB, a large blob takes 50% longer. */
const READ_BYTES = 1024 * 1024
const UNFINISHED = 'unfinished'
const STORE_ID = 'store-id'

export class DirectoryBlobStore implements BlobStore {
  readonly location: string
  readonly isRemote = false
  /** Those of a disk are the caller's to see. */
  readonly failures = 0
  readonly #root: string

  private constructor(root: string) {
    this.#root = root
    this.location = root
  }

  static async open(root: string): Promise<DirectoryBlobStore> {
    await mkdir(join(root, UNFINISHED), { recursive: true, mode: 0o700 })
    return new DirectoryBlobStore(root)
  }

  async identity(): Promise<string> {
    const path = join(this.#root, STORE_ID)
    for (;;) {
      const found = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
      if (found !== undefined) return found.trim()
      // Complete from the moment it has its name, and the first of several servers names it.
      const made = join(this.#root, UNFINISHED, newId())
      await writeFileDurably(made, `${newId('dir_')}\n`, { mode: 0o600 })
      await link(made, path).catch((error: NodeJS.ErrnoException) => {
        // Not every file system has links. Where it has none, no two servers share it for the first time at once.
        if (error.code !== 'EEXIST') return rename(made, path)
      })
      await rm(made, { force: true })
      await syncDirectory(this.#root)
    }
  }

  now(): Date {
    return new Date()
  }

  [Symbol.dispose](): void {}

  async put(
    id: string,
    content: Readable,
    { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
  ): Promise<StoredBlob> {
    const target = this.#pathOf(id)
    const unfinished = join(this.#root, UNFINISHED, `${id}-${randomBytes(6).toString('hex')}`)
    const hash = createHash('sha256')
    let sizeBytes = 0
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        sizeBytes += chunk.length
        hash.update(chunk)
        done(sizeBytes > maxBytes ? new BlobTooLarge(maxBytes) : null, chunk)
      },
    })
    try {
      const file = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true })
      await pipeline(content, measure, file, { signal })
      crashPoint('blob-written')
      await mkdir(join(target, '..'), { recursive: true, mode: 0o700 })
      await rename(unfinished, target)
    } catch (error) {
      await rm(unfinished, { force: true })
      throw error
    }
    await syncDirectory(join(target, '..'))
    crashPoint('blob-named')
    return { sizeBytes, sha256: hash.digest('hex') }
  }

  async read(id: string, range?: { start: number; end: number }): Promise<Readable> {
    const file = await open(this.#pathOf(id), 'r').catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? new BlobMissing(id) : error
    })
    return file.createReadStream({ ...range, autoClose: true, highWaterMark: READ_BYTES })
  }

  async remove(id: string): Promise<void> {
    await rm(this.#pathOf(id), { force: true })
  }

  async *list(): AsyncIterable<BlobInfo> {
    for (const entry of await readdir(this.#root, { withFileTypes: true })) {
      if (!entry.isDirectory() || entry.name === UNFINISHED) continue
      for (const id of await readdir(join(this.#root, entry.name))) {
        const info = await stat(join(this.#root, entry.name, id)).catch(() => undefined)
        if (info) yield { id, modifiedAt: info.mtime }
      }
    }
  }

  async removeUnfinished(before: Date): Promise<number> {
    const dir = join(this.#root, UNFINISHED)
    let removed = 0
    for (const name of await readdir(dir)) {
      const info = await stat(join(dir, name)).catch(() => undefined)
      if (!info || info.mtime >= before) continue
      await rm(join(dir, name), { force: true })
      removed++
    }
    return removed
  }

  #pathOf(id: string): string {
    return join(this.#root, checkBlobId(id).slice(0, 2), id)
  }
}
