// A file is written under a temporary name beside its destination and then renamed, so that it is complete
// or absent, even if the caller leaves, the disk is full, or the instance ends.
import { constants, openSync, closeSync, unlinkSync, writeSync } from 'node:fs'
import { chmod, lstat, mkdir, realpath, rename, stat, statfs } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { ControlError } from '../../calls/operation.ts'
import { cleanPath, nearestDirectory, temporaryName } from './paths.ts'
import { isMissing, noRoom, refusalOf, refuse } from './refusal.ts'
import { openRegular, refuseKind } from './regular-file.ts'

const DEFAULT_MODE = 0o644
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** Where a file goes. */
export interface Place {
  readonly path: string
  /** A directory on the same file system. */
  readonly near: string
  /** Mode of the file that is replaced. */
  readonly mode: number | undefined
}

/** Follows links to the file itself. */
export async function placeFor(text: string): Promise<Place> {
  if (text.endsWith(sep)) {
    throw new ControlError('bad_request', `Cannot write "${text}": it names a directory`)
  }
  const path = cleanPath(text)
  const there = await lstat(path).catch((error: unknown) =>
    isMissing(error) ? undefined : refuse(path)(error),
  )
  if (!there) return { path, near: await nearestDirectory(path), mode: undefined }
  const real = there.isSymbolicLink() ? await realPathOf(path) : path
  const stats = real === path ? there : await stat(real).catch(refuse(path))
  if (!stats.isFile()) refuseKind(path, stats)
  return { path: real, near: dirname(real), mode: stats.mode & 0o7777 }
}

async function realPathOf(path: string): Promise<string> {
  return realpath(path).catch((error: unknown) => {
    if (!isMissing(error)) return refuse(path)(error)
    throw new ControlError('conflict', `Cannot write "${path}": it is a link that leads nowhere`)
  })
}

export class StagedFile implements Disposable {
  readonly #path: string
  readonly #descriptor: number
  #isOpen = true
  #isThere = true

  private constructor(path: string, descriptor: number) {
    this.#path = path
    this.#descriptor = descriptor
  }

  /** `for`: the name in error messages. */
  static create(directory: string, options: { for: string }): StagedFile {
    const path = join(directory, temporaryName())
    try {
      return new StagedFile(path, openSync(path, NEW_FILE, 0o600))
    } catch (error) {
      // The directory exists but cannot hold files, as in /proc.
      if (isMissing(error)) {
        throw new ControlError('bad_request', `Cannot write "${options.for}": no files can be made there`)
      }
      throw refusalOf(options.for, error)
    }
  }

  get path(): string {
    return this.#path
  }

  /** Synchronous on purpose: every writable file system is in memory, where a thread only costs time. */
  write(chunk: Buffer, options: { for: string }): void {
    try {
      let from = 0
      while (from < chunk.length) from += writeSync(this.#descriptor, chunk, from, chunk.length - from)
    } catch (error) {
      throw refusalOf(options.for, error)
    }
  }

  /** Writes the whole content. */
  async fill(content: AsyncIterable<Buffer>, options: { for: string }): Promise<void> {
    for await (const chunk of content) this.write(chunk, options)
    // A form may have more files than the limit of open files.
    this.#close()
  }

  /** This file, or a copy on the destination's file system. */
  async near(place: Place): Promise<StagedFile> {
    const { dev } = await stat(place.near).catch(refuse(place.path))
    if (dev === (await lstat(this.#path)).dev) return this
    const copy = StagedFile.create(place.near, { for: place.path })
    try {
      const { handle } = await openRegular(this.#path)
      await copy.fill(handle.createReadStream(), { for: place.path })
      return copy
    } catch (error) {
      copy[Symbol.dispose]()
      throw error
    }
  }

  async takePlace({ path, mode: before }: Place, mode?: number): Promise<void> {
    this.#close()
    try {
      await chmod(this.#path, mode ?? before ?? DEFAULT_MODE)
      await mkdir(dirname(path), { recursive: true, mode: 0o755 })
      await rename(this.#path, path)
    } catch (error) {
      throw refusalOf(path, error)
    }
    this.#isThere = false
  }

  [Symbol.dispose](): void {
    this.#close()
    if (!this.#isThere) return
    this.#isThere = false
    try {
      unlinkSync(this.#path)
    } catch {
      // The tenant has already deleted it.
    }
  }

  #close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    closeSync(this.#descriptor)
  }
}

/** Checks first, because a full disk would disturb everything else in the instance. */
export async function checkRoom(near: string, bytes: number, options: { for: string }): Promise<void> {
  const { blocks, bavail, bsize } = await statfs(near)
  // 0 blocks means no limit.
  if (blocks > 0 && bytes > bavail * bsize) throw noRoom(options.for)
}
