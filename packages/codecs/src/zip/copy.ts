// Writes a new archive from one that was read. Entries stay compressed as they are; one may be replaced.
import { beginningOf } from './contents.ts'
import { readAt, type ArchiveFile, type ZipDirectory, type ZipEntry } from './directory.ts'
import { fileKinds, flags, FULL_16, lengths, MADE_BY_UNIX, methods, signatures, zlib } from './format.ts'
import { refused } from './refused.ts'

const PIECE_BYTES = 256 * 1024
const VERSION = 20

export interface Replacement {
  readonly name: string
  readonly content: Buffer
}

/** For an archive below 4 GiB. */
export async function* copyArchive(
  archive: ArchiveFile,
  { entries, start }: ZipDirectory,
  replacement: Replacement,
): AsyncGenerator<Buffer> {
  if (entries.length >= FULL_16) throw refused('it has too many entries')
  const heads: Buffer[] = []
  let offset = 0
  for (const [index, entry] of entries.entries()) {
    const isReplaced = entry.name === replacement.name
    const packed = isReplaced ? zlib().deflateRawSync(replacement.content) : undefined
    const written = packed ? replaced(entry, replacement.content, packed) : entry
    heads.push(centralHead(written, offset))
    const head = localHead(written)
    offset += head.length + written.packedBytes
    yield head
    if (packed) yield packed
    else {
      const from = await beginningOf(archive, entry, entries[index + 1]?.offset ?? start)
      yield* pieces(archive, from, entry.packedBytes)
    }
  }
  const directory = Buffer.concat(heads)
  yield directory
  const end = Buffer.alloc(lengths.end)
  end.writeUInt32LE(signatures.end, 0)
  end.writeUInt16LE(heads.length, 8)
  end.writeUInt16LE(heads.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  yield end
}

async function* pieces(archive: ArchiveFile, from: number, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < length; at += PIECE_BYTES) {
    yield await readAt(archive, from + at, Math.min(PIECE_BYTES, length - at))
  }
}

function replaced(entry: ZipEntry, content: Buffer, packed: Buffer): ZipEntry {
  return {
    ...entry,
    isDeflated: true,
    crc: zlib().crc32(content),
    bytes: content.length,
    packedBytes: packed.length,
  }
}

function localHead(entry: ZipEntry): Buffer {
  const head = Buffer.alloc(lengths.local)
  head.writeUInt32LE(signatures.local, 0)
  writeCommon(head, 4, entry)
  return Buffer.concat([head, nameOf(entry)])
}

function centralHead(entry: ZipEntry, offset: number): Buffer {
  const head = Buffer.alloc(lengths.central)
  head.writeUInt32LE(signatures.central, 0)
  head.writeUInt16LE((MADE_BY_UNIX << 8) | VERSION, 4)
  writeCommon(head, 6, entry)
  const kind = fileKinds[entry.kind]
  const permissions = entry.permissions ?? (entry.kind === 'directory' ? 0o755 : 0o644)
  head.writeUInt32LE(((kind | permissions) << 16) >>> 0, 38)
  head.writeUInt32LE(offset, 42)
  return Buffer.concat([head, nameOf(entry)])
}

/** The fields that local and central heads share, starting with the version. */
function writeCommon(head: Buffer, at: number, entry: ZipEntry): void {
  head.writeUInt16LE(VERSION, at)
  head.writeUInt16LE(flags.utf8, at + 2)
  head.writeUInt16LE(entry.isDeflated ? methods.deflated : methods.stored, at + 4)
  // 1 January 1980, the earliest possible date.
  head.writeUInt16LE(0x21, at + 8)
  head.writeUInt32LE(entry.crc, at + 10)
  head.writeUInt32LE(entry.packedBytes, at + 14)
  head.writeUInt32LE(entry.bytes, at + 18)
  head.writeUInt16LE(nameOf(entry).length, at + 22)
}

function nameOf({ name, kind }: ZipEntry): Buffer {
  return Buffer.from(kind === 'directory' ? `${name}/` : name)
}
