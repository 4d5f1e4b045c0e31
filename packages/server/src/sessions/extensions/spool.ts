// Keeps uploads in files until they are checked. Each file is unlinked right after it is created, so nothing is left
// however the server ends.
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

export interface SpooledFile extends AsyncDisposable {
  readonly handle: FileHandle
  readonly size: number
  readonly sha256: string
}

export class SpoolTooLarge extends Error {}

export class Spool {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async open(directory: string): Promise<Spool> {
    // A kill between creating and unlinking a file may have left it here.
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory, { recursive: true, mode: 0o700 })
    return new Spool(directory)
  }

  /** Rejects with SpoolTooLarge beyond `maxBytes`. */
  async fill(content: AsyncIterable<Buffer>, { maxBytes }: { maxBytes: number }): Promise<SpooledFile> {
    const path = join(this.#directory, randomBytes(12).toString('hex'))
    const handle = await open(path, 'wx+', 0o600)
    try {
      await rm(path)
      const hash = createHash('sha256')
      let size = 0
      for await (const chunk of content) {
        size += chunk.length
        if (size > maxBytes) throw new SpoolTooLarge()
        hash.update(chunk)
        await handle.write(chunk)
      }
      const sha256 = hash.digest('hex')
      return { handle, size, sha256, [Symbol.asyncDispose]: () => handle.close() }
    } catch (error) {
      await handle.close()
      throw error
    }
  }
}
