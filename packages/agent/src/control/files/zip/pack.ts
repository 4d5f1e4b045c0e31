// Packs a directory into an archive while it is being sent: nothing is held but the archive's directory.
import { lstatSync, type Stats } from 'node:fs'
import { readlink, type FileHandle } from 'node:fs/promises'
import { bytesOf, toBytePath, toText } from '../byte-paths.ts'
import { isTemporary } from '../paths.ts'
import { openRegular } from '../regular-file.ts'
import { entriesOf } from '../tree.ts'
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
} from '@berth/codecs/zip/format'

/** Read and packed in one go, up to this. */
const SMALL_BYTES = 256 * 1024
const READ_BYTES = 256 * 1024
/** Quick rather than small: it is on its way at once, and mostly over a fast line. */
const LEVEL = 1
/** More than fits into 32 bits, also when it does not get smaller by packing. */
const LARGE_BYTES = 0xf000_0000
const VERSION = 20
const VERSION_64 = 45
/** These have no end, or are no one's files. */
const NOT_ENTERED = new Set(['/proc', '/dev', '/sys'])

interface Item {
  /** A byte path. */
  readonly path: string
  /** In the archive, as text. */
  readonly name: string
  readonly stats: Stats
}

/** Of everything below a directory, to see how much it is before it is begun. */
export async function countEntries(root: string, most: number): Promise<number> {
  let count = 0
  for await (const _ of walk(toBytePath(root), '')) if (++count > most) break
  return count
}

export async function* pack(root: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const packer = new Packer()
  for await (const item of walk(toBytePath(root), '')) {
    signal.throwIfAborted()
    if (item.stats.isDirectory()) yield packer.addHead(item, Buffer.alloc(0))
    else if (item.stats.isSymbolicLink()) yield* packLink(packer, item)
    else yield* packFile(packer, item)
  }
  yield* packer.end()
}

async function* walk(directory: string, prefix: string): AsyncGenerator<Item> {
  for await (const { name: raw, path } of entriesOf(directory)) {
    if (isTemporary(raw)) continue
    const stats = lstatSync(bytesOf(path), { throwIfNoEntry: false })
    if (!stats) continue
    const name = prefix + toText(raw)
    if (stats.isDirectory()) {
      yield { path, name: `${name}/`, stats }
      if (!NOT_ENTERED.has(path.replace(/^\/+/, '/'))) yield* unlessUnreadable(walk(path, `${name}/`))
    } else if (stats.isFile() || stats.isSymbolicLink()) yield { path, name, stats }
  }
}

/** What cannot be looked into, or goes away meanwhile, is left out. */
async function* unlessUnreadable<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* items
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
  }
}

async function* packLink(packer: Packer, item: Item): AsyncGenerator<Buffer> {
  const target = await readlink(bytesOf(item.path), { encoding: 'buffer' }).catch(() => undefined)
  if (target) yield packer.addHead(item, target)
}

async function* packFile(packer: Packer, item: Item): AsyncGenerator<Buffer> {
  const file = await openRegular(item.name, { bytes: bytesOf(item.path), followsLinks: false }).catch(
    () => undefined,
  )
  if (!file) return
  const { handle, stats } = file
  try {
    if (stats.size > SMALL_BYTES)
      return yield* packer.addStream(item, contentOf(handle, stats.size), stats.size)
    const chunks: Buffer[] = []
    for await (const chunk of contentOf(handle, stats.size)) chunks.push(chunk)
    yield packer.addHead(item, Buffer.concat(chunks))
  } finally {
    await handle.close()
  }
}

/** As long as it was at first: one that grows all the time has an end, too. */
async function* contentOf(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(Math.min(READ_BYTES, size - at)))
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

interface Packed {
  readonly item: Item
  readonly isDeflated: boolean
  readonly hasDescriptor: boolean
  readonly isLarge: boolean
  crc: number
  packedBytes: number
  bytes: number
}

class Packer {
  readonly #directory: Buffer[] = []
  #offset = 0

  /** Head and content in one. */
  addHead(item: Item, content: Buffer): Buffer {
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

  async *addStream(item: Item, content: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer> {
    const isLarge = size > LARGE_BYTES
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
    const deflate = zlib().createDeflateRaw({ level: LEVEL, chunkSize: READ_BYTES })
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
  // Sizes that come after the content have to be announced as large.
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
  const kind = item.stats.isDirectory()
    ? fileKinds.directory
    : item.stats.isSymbolicLink()
      ? fileKinds.link
      : fileKinds.file
  head.writeUInt32LE((((item.stats.mode & 0o7777) | kind) << 16) >>> 0, 38)
  head.writeUInt32LE(isLarge ? FULL_32 : offset, 42)
  return Buffer.concat([head, name, extra])
}

function writeCommon(head: Buffer, at: number, { item, isDeflated, hasDescriptor }: Packed): void {
  head.writeUInt16LE(flags.utf8 | (hasDescriptor ? flags.descriptor : 0), at)
  head.writeUInt16LE(isDeflated ? methods.deflated : methods.stored, at + 2)
  const { time, date } = dosTime(item.stats.mtime)
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

/** Since 1980, in two seconds, without a time zone: in UTC. */
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
