// A file is written under a name of its own beside its place and then takes it, so that it is whole or
// absent: also when the caller goes away, the disk is full, or the instance ends.
import { constants, openSync, closeSync, unlinkSync, writeSync } from 'node:fs'
import { chmod, lstat, mkdir, realpath, rename, stat, statfs } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { ControlError } from '../operation.ts'
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
  /** Of the file that is replaced. */
  readonly mode: number | undefined
}

/** A link leads to the file that it stands for. */
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

  /** `for`: what it is called in refusals. */
  static create(directory: string, options: { for: string }): StagedFile {
    const path = join(directory, temporaryName())
    try {
      return new StagedFile(path, openSync(path, NEW_FILE, 0o600))
    } catch (error) {
      // The directory is there, so it is one where nothing can be made, as in /proc.
      if (isMissing(error)) {
        throw new ControlError('bad_request', `Cannot write "${options.for}": no files can be made there`)
      }
      throw refusalOf(options.for, error)
    }
  }

  get path(): string {
    return this.#path
  }

  /** Sync on purpose: every place that can be written is in memory, where a thread would only cost time. */
  write(chunk: Buffer, options: { for: string }): void {
    try {
      let from = 0
      while (from < chunk.length) from += writeSync(this.#descriptor, chunk, from, chunk.length - from)
    } catch (error) {
      throw refusalOf(options.for, error)
    }
  }

  /** With all that it will have. */
  async fill(content: AsyncIterable<Buffer>, options: { for: string }): Promise<void> {
    for await (const chunk of content) this.write(chunk, options)
    // A form may have more files than may be open.
    this.#close()
  }

  /** This one, or a copy of it on the file system of its place. */
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
      // The tenant was quicker.
    }
  }

  #close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    closeSync(this.#descriptor)
  }
}

/** Before the disk is filled for nothing, which would trouble everything else in the instance. */
export async function checkRoom(near: string, bytes: number, options: { for: string }): Promise<void> {
  const { blocks, bavail, bsize } = await statfs(near)
  // None at all means no bound.
  if (blocks > 0 && bytes > bavail * bsize) throw noRoom(options.for)
}
