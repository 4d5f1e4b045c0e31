import { createHash } from 'node:crypto'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

/** Better compression of a file this large takes many seconds and saves little. */
const LARGE_BYTES = 1_000_000
const compressible = new Set(['.js', '.css', '.html', '.svg'])

/** Files of one folder of `dist`. Text also gets a Brotli copy, so that the server never compresses. */
export class Output {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  async write(name: string, contents: Uint8Array | string): Promise<void> {
    const path = join(this.#directory, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, contents)
    if (!compressible.has(extname(name))) return
    const quality = contents.length > LARGE_BYTES ? 5 : 11
    const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_LGWIN]: 24 }
    await writeFile(`${path}.br`, brotliCompressSync(contents, { params }))
  }

  /** Writes a file with its hash in its name, so that browsers may cache it for ever. Returns the name. */
  async writeHashed(name: string, contents: Uint8Array | string): Promise<string> {
    const hash = createHash('sha256').update(contents).digest('base64url').slice(0, 12)
    const end = extname(name)
    const hashed = `${name.slice(0, -end.length)}-${hash}${end}`
    await this.write(hashed, contents)
    return hashed
  }

  async copy(from: string, name: string): Promise<void> {
    const path = join(this.#directory, name)
    await mkdir(dirname(path), { recursive: true })
    await copyFile(from, path)
  }
}
