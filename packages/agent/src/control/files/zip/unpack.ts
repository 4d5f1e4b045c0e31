// Unpacks an archive into a directory that nobody else uses yet.
import { constants } from 'node:fs'
import { chmod, mkdir, open, symlink, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { readAt, readDirectory, type ZipEntry } from './directory.ts'
import { flags, lengths, signatures, zlib } from './format.ts'
import { checkLink, shown } from './names.ts'
import { refused } from './refused.ts'

/** Unpacked in one go, up to this; a stream for each of many small files would take most of the time. */
const SMALL_BYTES = 256 * 1024
const PIECE_BYTES = 256 * 1024
const LONGEST_LINK = 4096

export interface UnpackOptions {
  readonly archive: FileHandle
  readonly size: number
  /** There and empty. */
  readonly into: string
  /** Given how much there will be before anything is made; throws where there is no room for it. */
  readonly checkRoom: (bytes: number) => Promise<void>
  readonly signal: AbortSignal
}

export async function unpack({ archive, size, into, checkRoom, signal }: UnpackOptions): Promise<void> {
  const { entries, start } = await readDirectory(archive, size)
  await checkRoom(entries.reduce((sum, { bytes }) => sum + bytes, 0))
  const links: { path: string; target: string }[] = []
  const made = new Set([into])
  const directory = async (path: string) => {
    if (made.has(path)) return
    await mkdir(path, { recursive: true, mode: 0o755 })
    for (let above = path; !made.has(above); above = dirname(above)) made.add(above)
  }
  for (const [index, entry] of entries.entries()) {
    signal.throwIfAborted()
    const from = await contentOf(archive, entry, entries[index + 1]?.offset ?? start)
    const path = join(into, entry.name)
    if (entry.kind === 'directory') {
      await directory(path)
      continue
    }
    await directory(dirname(path))
    const content = contentsOf(archive, entry, { from, signal })
    if (entry.kind === 'link') links.push({ path, target: await linkTarget(entry, content) })
    else await writeEntry(entry, content, path)
  }
  // Last, so that no file goes through one.
  for (const { path, target } of links) await symlink(target, path)
  for (const { kind, name, permissions } of entries.toReversed()) {
    if (kind === 'directory' && permissions !== undefined) await chmod(join(into, name), permissions | 0o700)
  }
}

/** Where its content begins; it must end before the next one. */
async function contentOf(archive: FileHandle, entry: ZipEntry, next: number): Promise<number> {
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

async function* contentsOf(
  archive: FileHandle,
  entry: ZipEntry,
  options: { from: number; signal: AbortSignal },
): AsyncGenerator<Buffer> {
  const about = (reason: string) => refused(`"${shown(entry.name)}" in it ${reason}`)
  let crc = 0
  let bytes = 0
  try {
    for await (const chunk of unpacked(archive, entry, options)) {
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
  archive: FileHandle,
  { isDeflated, packedBytes, bytes }: ZipEntry,
  { from, signal }: { from: number; signal: AbortSignal },
): AsyncGenerator<Buffer> {
  if (!isDeflated) return yield* pieces(archive, from, packedBytes)
  if (bytes <= SMALL_BYTES && packedBytes <= SMALL_BYTES) {
    const packed = await readAt(archive, from, packedBytes)
    // One more than there should be, to notice.
    yield zlib().inflateRawSync(packed, { maxOutputLength: bytes + 1 })
    return
  }
  const inflate = zlib().createInflateRaw({ chunkSize: PIECE_BYTES })
  const source = Readable.from(pieces(archive, from, packedBytes), { objectMode: false, signal })
  source.once('error', (error) => inflate.destroy(error))
  inflate.once('close', () => source.destroy())
  yield* source.pipe(inflate) as AsyncIterable<Buffer>
}

async function* pieces(archive: FileHandle, from: number, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < length; at += PIECE_BYTES) {
    yield await readAt(archive, from + at, Math.min(PIECE_BYTES, length - at))
  }
}

async function writeEntry({ permissions = 0o644 }: ZipEntry, content: AsyncIterable<Buffer>, path: string) {
  const flag = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const file = await open(path, flag, 0o600)
  try {
    await file.writeFile(content)
    await file.chmod(permissions)
  } finally {
    await file.close()
  }
}

async function linkTarget({ name, bytes }: ZipEntry, content: AsyncIterable<Buffer>): Promise<string> {
  if (bytes > LONGEST_LINK) throw refused(`the link "${shown(name)}" in it is too long`)
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  const target = Buffer.concat(chunks).toString()
  checkLink(name, target)
  return target
}

function isTooMuch(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
}
