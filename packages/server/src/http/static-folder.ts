// A folder that packages/web built. Its files are read from disk for each request: few people open them, and only the list
// of their names stays in memory. Only files in this list are ever opened, whatever the path.
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { AppError } from '../platform/errors/app-error.ts'
import type { RawAnswer } from './call.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
}

export interface StaticFolderOptions {
  readonly directory: string
  /** In error messages. */
  readonly what: string
}

export class StaticFolder {
  readonly #options: StaticFolderOptions
  #names: Promise<ReadonlySet<string>> | undefined

  constructor(options: StaticFolderOptions) {
    this.#options = options
  }

  /** Files below `files` have names that change with their content, so caches may keep them. */
  async answer(name: string, acceptEncoding = '', policy: string): Promise<RawAnswer> {
    const names = await this.names()
    const isBrotli = /\bbr\b/.test(acceptEncoding) && names.has(`${name}.br`)
    const path = join(this.#options.directory, isBrotli ? `${name}.br` : name)
    const { size } = await stat(path).catch((cause: unknown) => {
      // Another version is being put in the place of this one.
      this.#names = undefined
      throw new AppError(
        'unavailable',
        `Cannot show the ${this.#options.what}: its files are being replaced; try again`,
        { cause },
      )
    })
    return {
      body: createReadStream(path),
      headers: {
        'content-type': types[extname(name)] ?? 'application/octet-stream',
        'content-length': String(size),
        ...(isBrotli && { 'content-encoding': 'br' }),
        vary: 'accept-encoding',
        'cache-control': name.startsWith('files/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
      },
    }
  }

  names(): Promise<ReadonlySet<string>> {
    const { directory, what } = this.#options
    this.#names ??= namesIn(directory).catch((error: unknown) => {
      this.#names = undefined
      throw new AppError('unavailable', `Cannot show the ${what}: it is not built; run npm run setup`, {
        cause: error,
      })
    })
    return this.#names
  }
}

async function namesIn(folder: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return new Set(files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)))
}
