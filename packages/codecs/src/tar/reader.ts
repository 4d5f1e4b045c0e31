// Reads a tar archive while it arrives, one entry after another. The archive is untrusted, so the reader holds only a
// head and the limited description of the next entry.
import { ByteReader } from '../bytes/byte-reader.ts'
import { BLOCK, readHeader, WrongTar, type TarHeader } from './header.ts'

/** Limit for the description of the next entry, such as its long name. */
const MAX_ABOUT_BYTES = 64 * 1024

export interface TarEntry {
  readonly path: string
  readonly kind: 'file' | 'directory' | 'other'
  readonly size: number
  readonly mode: number
  readonly mtimeSeconds: number
  /** Call it once, before requesting the next entry. What is not read is skipped. */
  content(): AsyncGenerator<Buffer>
}

export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const bytes = new ByteReader(source, { cutOff: () => new WrongTar('it is cut off') })
  let about: About = {}
  try {
    for (;;) {
      const block = await bytes.readUnlessEnded(BLOCK)
      const header = block && readHeader(block)
      // Some writers omit the empty blocks at the end, others write many. Reading them lets the sender finish.
      if (!header) return await bytes.drain()
      if (header.typeFlag === 'x' || header.typeFlag === 'L') {
        about = { ...about, ...(await readAbout(bytes, header)) }
        continue
      }
      const size = about.size ?? header.size
      const path = about.path ?? header.path
      about = {}
      const content = new Content(bytes, size)
      yield { ...header, path, size, kind: kindOf(header, path), content: () => content.read() }
      await content.skip()
    }
  } finally {
    await bytes.close()
  }
}

interface About {
  readonly path?: string
  readonly size?: number
}

async function readAbout(bytes: ByteReader, { typeFlag, size }: TarHeader): Promise<About> {
  if (size > MAX_ABOUT_BYTES) throw new WrongTar('a name in it is too long')
  const text = await bytes.read(size)
  await bytes.skip(paddingOf(size))
  if (typeFlag === 'L') return { path: text.toString().replace(/\0+$/, '') }
  return readRecords(text)
}

/** Lines such as "30 path=a/long/name\n", each with its own length in front. */
function readRecords(text: Buffer): About {
  const about: { path?: string; size?: number } = {}
  for (let at = 0; at < text.length;) {
    const space = text.indexOf(0x20, at)
    const length = Number(text.toString('latin1', at, space))
    const end = at + length
    // A record must end behind its own length; otherwise the loop would never end.
    if (space === -1 || !Number.isInteger(length) || end <= space || end > text.length) {
      throw new WrongTar('what it says about an entry cannot be read')
    }
    const record = text.toString('utf8', space + 1, end - 1)
    const equals = record.indexOf('=')
    const value = record.slice(equals + 1)
    if (record.startsWith('path=')) about.path = value
    if (record.startsWith('size=')) {
      about.size = Number(value)
      if (!Number.isSafeInteger(about.size) || about.size < 0) throw new WrongTar('a size in it is wrong')
    }
    at = end
  }
  return about
}

function kindOf({ typeFlag }: TarHeader, path: string): TarEntry['kind'] {
  if (typeFlag === '5') return 'directory'
  if (typeFlag !== '0' && typeFlag !== '\0' && typeFlag !== '7') return 'other'
  // Old archives mark a directory only by the slash.
  return path.endsWith('/') ? 'directory' : 'file'
}

export const paddingOf = (size: number) => (BLOCK - (size % BLOCK)) % BLOCK

class Content {
  readonly #bytes: ByteReader
  readonly #padding: number
  #left: number
  #isOver = false

  constructor(bytes: ByteReader, size: number) {
    this.#bytes = bytes
    this.#left = size
    this.#padding = paddingOf(size)
  }

  async *read(): AsyncGenerator<Buffer> {
    while (this.#left > 0) {
      const piece = await this.#bytes.readSome(this.#left)
      if (!piece) throw new WrongTar('it is cut off')
      this.#left -= piece.length
      yield piece
    }
  }

  async skip(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    await this.#bytes.skip(this.#left + this.#padding)
  }
}
