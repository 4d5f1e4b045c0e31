// Reads the content of one entry. Like the directory, it is untrusted: every number is checked.
import { Readable } from 'node:stream'
import { readAt, type ArchiveFile, type ZipEntry } from './directory.ts'
import { flags, lengths, signatures, zlib } from './format.ts'
import { shown } from './names.ts'
import { refused } from './refused.ts'

/** Smaller entries are unpacked in one call; a stream for each of many small files would take most of the time. */
const SMALL_BYTES = 256 * 1024
const PIECE_BYTES = 256 * 1024

/** Offset of the entry's content, which must end before the next entry. */
export async function beginningOf(archive: ArchiveFile, entry: ZipEntry, next: number): Promise<number> {
  const head = await readAt(archive, entry.offset, lengths.local)
  const about = (reason: string) => refused(`"${shown(entry.name)}" in it ${reason}`)
  if (head.readUInt32LE(0) !== signatures.local) throw about('is not where the directory says')
  if (head.readUInt16LE(6) & flags.encrypted) throw about('is encrypted')
  const nameLength = head.readUInt16LE(26)
  const from = entry.offset + lengths.local + nameLength + head.readUInt16LE(28)
  if (from + entry.packedBytes > next) throw about('overlaps the next entry')
  const name = await readAt(archive, entry.offset + lengths.local, nameLength)
  if (!name.equals(entry.rawName)) throw about('has another name in the directory')
  return from
}

export interface ContentOptions {
  /** Offset of the next entry or of the directory; the content must end before it. */
  readonly next: number
  readonly signal: AbortSignal
}

/** The content of an entry. Refuses it if size or checksum differ from the directory. */
export async function* contentsOf(
  archive: ArchiveFile,
  entry: ZipEntry,
  { next, signal }: ContentOptions,
): AsyncGenerator<Buffer> {
  const from = await beginningOf(archive, entry, next)
  const about = (reason: string) => refused(`"${shown(entry.name)}" in it ${reason}`)
  let crc = 0
  let bytes = 0
  try {
    for await (const chunk of unpacked(archive, entry, { from, signal })) {
      bytes += chunk.length
      if (bytes > entry.bytes) break
      crc = zlib().crc32(chunk, crc)
      yield chunk
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_') || isTooMuch(error)) throw about('is damaged')
    throw error
  }
  if (bytes !== entry.bytes) throw about('has a size that is a lie')
  if (crc !== entry.crc) throw about('is damaged: its checksum is wrong')
}

async function* unpacked(
  archive: ArchiveFile,
  { isDeflated, packedBytes, bytes }: ZipEntry,
  { from, signal }: { from: number; signal: AbortSignal },
): AsyncGenerator<Buffer> {
  if (!isDeflated) return yield* pieces(archive, from, packedBytes)
  if (bytes <= SMALL_BYTES && packedBytes <= SMALL_BYTES) {
    const packed = await readAt(archive, from, packedBytes)
    // One byte more than expected, to notice content that is too long.
    yield zlib().inflateRawSync(packed, { maxOutputLength: bytes + 1 })
    return
  }
  const inflate = zlib().createInflateRaw({ chunkSize: PIECE_BYTES })
  const source = Readable.from(pieces(archive, from, packedBytes), { objectMode: false, signal })
  source.once('error', (error) => inflate.destroy(error))
  inflate.once('close', () => source.destroy())
  yield* source.pipe(inflate) as AsyncIterable<Buffer>
}

async function* pieces(archive: ArchiveFile, from: number, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < length; at += PIECE_BYTES) {
    yield await readAt(archive, from + at, Math.min(PIECE_BYTES, length - at))
  }
}

function isTooMuch(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
}
