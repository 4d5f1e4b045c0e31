// Writes an archive while it is sent, and holds only its directory. Why this is not yazl:
// docs/decisions/0036-zip-and-tar-stay-ours.md.
import {
  fileKinds,
  flags,
  FULL_16,
  FULL_32,
  MADE_BY_UNIX,
  methods,
  signatures,
  ZIP64_EXTRA,
  zlib,
} from './format.ts'

/** Fast rather than small, because the archive is sent at once, usually over a fast connection. */
const LEVEL = 1
const PIECE_BYTES = 256 * 1024
/** Content that is larger might not fit into 32 bits if it does not compress. */
const MAX_SMALL_BYTES = 0xf000_0000
const VERSION = 20
const VERSION_64 = 45

export interface NewZipEntry {
  /** The name of a directory ends with a slash. */
  readonly name: string
  readonly kind: 'file' | 'directory' | 'link'
  readonly permissions: number
  readonly modifiedAt: Date
}

interface Packed {
  readonly item: NewZipEntry
  readonly isDeflated: boolean
  readonly hasDescriptor: boolean
  readonly isLarge: boolean
  crc: number
  packedBytes: number
  bytes: number
}

export class ZipWriter {
  readonly #directory: Buffer[] = []
  #offset = 0

  /** Returns head and content together. */
  add(item: NewZipEntry, content: Buffer): Buffer {
    const packed = zlib().deflateRawSync(content, { level: LEVEL })
    const isDeflated = packed.length < content.length
    const data = isDeflated ? packed : content
    const entry: Packed = {
      item,
      isDeflated,
      hasDescriptor: false,
      isLarge: false,
      crc: zlib().crc32(content),
      packedBytes: data.length,
      bytes: content.length,
    }
    const whole = Buffer.concat([localHead(entry), data])
    this.#record(entry, whole.length)
    return whole
  }

  async *addStream(item: NewZipEntry, content: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer> {
    const isLarge = size > MAX_SMALL_BYTES
    const entry: Packed = {
      item,
      isDeflated: true,
      hasDescriptor: true,
      isLarge,
      crc: 0,
      packedBytes: 0,
      bytes: 0,
    }
    const head = localHead(entry)
    yield head
    const counted = async function* () {
      for await (const chunk of content) {
        entry.crc = zlib().crc32(chunk, entry.crc)
        entry.bytes += chunk.length
        yield chunk
      }
    }
    const { Readable } = process.getBuiltinModule('node:stream')
    const deflate = zlib().createDeflateRaw({ level: LEVEL, chunkSize: PIECE_BYTES })
    const source = Readable.from(counted(), { objectMode: false })
    source.once('error', (error) => deflate.destroy(error))
    deflate.once('close', () => source.destroy())
    for await (const chunk of source.pipe(deflate) as AsyncIterable<Buffer>) {
      entry.packedBytes += chunk.length
      yield chunk
    }
    const tail = descriptor(entry)
    yield tail
    this.#record(entry, head.length + entry.packedBytes + tail.length)
  }

  *end(): Generator<Buffer> {
    const start = this.#offset
    yield* this.#directory
    const bytes = this.#directory.reduce((sum, { length }) => sum + length, 0)
    yield endOf({ start, bytes, count: this.#directory.length })
  }

  #record(entry: Packed, length: number): void {
    this.#directory.push(centralHead(entry, this.#offset))
    this.#offset += length
  }
}

function localHead(entry: Packed): Buffer {
  const name = Buffer.from(entry.item.name)
  const { hasDescriptor, isLarge } = entry
  // Large sizes that follow the content must be announced here.
  const extra = isLarge ? largeExtra([0, 0]) : Buffer.alloc(0)
  const head = Buffer.alloc(30)
  head.writeUInt32LE(signatures.local, 0)
  head.writeUInt16LE(isLarge ? VERSION_64 : VERSION, 4)
  writeCommon(head, 6, entry)
  const size = (value: number) => (isLarge ? FULL_32 : hasDescriptor ? 0 : value)
  head.writeUInt32LE(hasDescriptor ? 0 : entry.crc, 14)
  head.writeUInt32LE(size(entry.packedBytes), 18)
  head.writeUInt32LE(size(entry.bytes), 22)
  head.writeUInt16LE(name.length, 26)
  head.writeUInt16LE(extra.length, 28)
  return Buffer.concat([head, name, extra])
}

function descriptor({ crc, packedBytes, bytes, isLarge }: Packed): Buffer {
  const tail = Buffer.alloc(isLarge ? 24 : 16)
  tail.writeUInt32LE(signatures.descriptor, 0)
  tail.writeUInt32LE(crc, 4)
  if (isLarge) {
    tail.writeBigUInt64LE(BigInt(packedBytes), 8)
    tail.writeBigUInt64LE(BigInt(bytes), 16)
  } else {
    tail.writeUInt32LE(packedBytes, 8)
    tail.writeUInt32LE(bytes, 12)
  }
  return tail
}

function centralHead(entry: Packed, offset: number): Buffer {
  const { item, bytes, packedBytes } = entry
  const name = Buffer.from(item.name)
  const isLarge = entry.isLarge || offset >= FULL_32
  const extra = isLarge ? largeExtra([bytes, packedBytes, offset]) : Buffer.alloc(0)
  const head = Buffer.alloc(46)
  head.writeUInt32LE(signatures.central, 0)
  head.writeUInt16LE((MADE_BY_UNIX << 8) | VERSION_64, 4)
  head.writeUInt16LE(isLarge ? VERSION_64 : VERSION, 6)
  writeCommon(head, 8, entry)
  head.writeUInt32LE(entry.crc, 16)
  head.writeUInt32LE(isLarge ? FULL_32 : packedBytes, 20)
  head.writeUInt32LE(isLarge ? FULL_32 : bytes, 24)
  head.writeUInt16LE(name.length, 28)
  head.writeUInt16LE(extra.length, 30)
  head.writeUInt32LE(((item.permissions | fileKinds[item.kind]) << 16) >>> 0, 38)
  head.writeUInt32LE(isLarge ? FULL_32 : offset, 42)
  return Buffer.concat([head, name, extra])
}

function writeCommon(head: Buffer, at: number, { item, isDeflated, hasDescriptor }: Packed): void {
  head.writeUInt16LE(flags.utf8 | (hasDescriptor ? flags.descriptor : 0), at)
  head.writeUInt16LE(isDeflated ? methods.deflated : methods.stored, at + 2)
  const { time, date } = dosTime(item.modifiedAt)
  head.writeUInt16LE(time, at + 4)
  head.writeUInt16LE(date, at + 6)
}

function largeExtra(values: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * values.length)
  extra.writeUInt16LE(ZIP64_EXTRA, 0)
  extra.writeUInt16LE(8 * values.length, 2)
  for (const [index, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index)
  return extra
}

/** The time since 1980 in units of two seconds. Zip has no time zones; this is UTC. */
function dosTime(at: Date): { time: number; date: number } {
  const year = Math.min(Math.max(at.getUTCFullYear(), 1980), 2107)
  return {
    time: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
    date: ((year - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
  }
}

function endOf({ start, bytes, count }: { start: number; bytes: number; count: number }): Buffer {
  const isLarge = count >= FULL_16 || start >= FULL_32 || bytes >= FULL_32
  const end = Buffer.alloc(22)
  end.writeUInt32LE(signatures.end, 0)
  end.writeUInt16LE(Math.min(count, FULL_16), 8)
  end.writeUInt16LE(Math.min(count, FULL_16), 10)
  end.writeUInt32LE(Math.min(bytes, FULL_32), 12)
  end.writeUInt32LE(Math.min(start, FULL_32), 16)
  return isLarge ? Buffer.concat([largeEnd({ start, bytes, count }), end]) : end
}

function largeEnd({ start, bytes, count }: { start: number; bytes: number; count: number }): Buffer {
  const record = Buffer.alloc(56 + 20)
  record.writeUInt32LE(signatures.end64, 0)
  record.writeBigUInt64LE(44n, 4)
  record.writeUInt16LE((MADE_BY_UNIX << 8) | VERSION_64, 12)
  record.writeUInt16LE(VERSION_64, 14)
  record.writeBigUInt64LE(BigInt(count), 24)
  record.writeBigUInt64LE(BigInt(count), 32)
  record.writeBigUInt64LE(BigInt(bytes), 40)
  record.writeBigUInt64LE(BigInt(start), 48)
  record.writeUInt32LE(signatures.locator64, 56)
  record.writeBigUInt64LE(BigInt(start + bytes), 64)
  record.writeUInt32LE(1, 72)
  return record
}
