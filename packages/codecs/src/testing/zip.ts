// Makes archives that no honest program makes: every field can be a lie.
import { crc32, deflateRawSync } from 'node:zlib'

export interface EntryOptions {
  readonly name: string | Buffer
  readonly content?: string | Buffer
  readonly isStored?: boolean
  /** Of Unix, with the kind of file. */
  readonly mode?: number
  readonly flags?: number
  readonly method?: number
  readonly crc?: number
  /** Of what it says it is unpacked. */
  readonly bytes?: number
  readonly packedBytes?: number
  readonly offset?: number
  readonly localName?: string
  readonly extra?: Buffer
}

export interface ArchiveOptions {
  readonly count?: number
  readonly directoryOffset?: number
  readonly tail?: Buffer
  readonly beforeEnd?: (directoryStart: number, directoryBytes: number) => Buffer
}

export function archiveOf(entries: readonly EntryOptions[], options: ArchiveOptions = {}): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? '')
    const packed = entry.isStored ? content : deflateRawSync(content)
    const local = Buffer.concat([localHead(entry, content, packed), packed])
    parts.push(local)
    directory.push(centralHead(entry, { content, packed, offset }))
    offset += local.length
  }
  const whole = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Math.min(options.count ?? entries.length, 0xffff), 8)
  end.writeUInt16LE(Math.min(options.count ?? entries.length, 0xffff), 10)
  end.writeUInt32LE(whole.length, 12)
  end.writeUInt32LE(options.directoryOffset ?? offset, 16)
  const between = options.beforeEnd?.(offset, whole.length) ?? Buffer.alloc(0)
  return Buffer.concat([...parts, whole, between, end, options.tail ?? Buffer.alloc(0)])
}

function fieldsOf(entry: EntryOptions, content: Buffer, packed: Buffer) {
  return {
    flags: entry.flags ?? 0,
    method: entry.method ?? (entry.isStored ? 0 : 8),
    crc: entry.crc ?? crc32(content),
    packedBytes: entry.packedBytes ?? packed.length,
    bytes: entry.bytes ?? content.length,
  }
}

function localHead(entry: EntryOptions, content: Buffer, packed: Buffer): Buffer {
  const { flags, method, crc, packedBytes, bytes } = fieldsOf(entry, content, packed)
  const name = Buffer.from(entry.localName ?? entry.name)
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x04034b50, 0)
  head.writeUInt16LE(20, 4)
  head.writeUInt16LE(flags, 6)
  head.writeUInt16LE(method, 8)
  head.writeUInt32LE(crc, 14)
  head.writeUInt32LE(packedBytes, 18)
  head.writeUInt32LE(bytes, 22)
  head.writeUInt16LE(name.length, 26)
  return Buffer.concat([head, name])
}

function centralHead(
  entry: EntryOptions,
  { content, packed, offset }: { content: Buffer; packed: Buffer; offset: number },
): Buffer {
  const { flags, method, crc, packedBytes, bytes } = fieldsOf(entry, content, packed)
  const name = Buffer.from(entry.name)
  const extra = entry.extra ?? Buffer.alloc(0)
  const head = Buffer.alloc(46)
  head.writeUInt32LE(0x02014b50, 0)
  head.writeUInt16LE((3 << 8) | 20, 4)
  head.writeUInt16LE(flags, 8)
  head.writeUInt16LE(method, 10)
  head.writeUInt32LE(crc, 16)
  head.writeUInt32LE(packedBytes, 20)
  head.writeUInt32LE(bytes, 24)
  head.writeUInt16LE(name.length, 28)
  head.writeUInt16LE(extra.length, 30)
  head.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 38)
  head.writeUInt32LE(entry.offset ?? offset, 42)
  return Buffer.concat([head, name, extra])
}
