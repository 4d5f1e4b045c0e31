// Reads the directory at the end of an archive. It is untrusted: every number is checked against the size of the file,
// and the entries against each other.
import { readAt as readBytesAt, type RandomAccess } from '../bytes/read-at.ts'
import {
  fileKinds,
  flags,
  FULL_16,
  FULL_32,
  lengths,
  MADE_BY_UNIX,
  methods,
  signatures,
  ZIP64_EXTRA,
} from './format.ts'
import { decodeName, safeName, shown } from './names.ts'
import { refused } from './refused.ts'

const MAX_ENTRIES = 100_000
const MAX_DIRECTORY_BYTES = 32 * 1024 * 1024
/** Limit for the unpacked size: this, plus so many times the packed size. */
const FREE_BYTES = 64 * 1024 * 1024
const MAX_RATIO = 200
/** A large directory takes a second; nobody else is to wait so long. */
const ENTRIES_AT_A_TIME = 256
const othersTurn = () => new Promise((resolve) => void setImmediate(resolve))

export type ArchiveFile = RandomAccess

export interface ZipEntry {
  /** Path below the target directory. */
  readonly name: string
  readonly rawName: Buffer
  readonly kind: 'file' | 'directory' | 'link'
  readonly permissions: number | undefined
  readonly isDeflated: boolean
  readonly crc: number
  readonly packedBytes: number
  readonly bytes: number
  /** Offset of the local header. */
  readonly offset: number
}

export interface ZipDirectory {
  /** In the order of the file. */
  readonly entries: readonly ZipEntry[]
  /** Offset of the directory, where the entries end. */
  readonly start: number
}

export async function readDirectory(archive: ArchiveFile, size: number): Promise<ZipDirectory> {
  const { start, bytes, count } = await findDirectory(archive, size)
  if (count > MAX_ENTRIES) throw refused(`it has more than ${MAX_ENTRIES} entries`)
  if (bytes > MAX_DIRECTORY_BYTES) throw refused('its directory is too large')
  const directory = await readAt(archive, start, bytes)
  const all: ZipEntry[] = []
  for (let at = 0; at < directory.length;) {
    const { entry, length } = readEntry(directory, at)
    at += length
    if (all.push(entry) > count) break
    if (all.length % ENTRIES_AT_A_TIME === 0) await othersTurn()
  }
  if (all.length !== count) throw refused('its directory is inconsistent')
  // An empty name is the target directory itself, which exists.
  const entries = all.filter(({ name }) => name !== '')
  await checkNames(entries)
  checkAmount(entries, start)
  return { entries: entries.toSorted((a, b) => a.offset - b.offset), start }
}

export function readAt(archive: ArchiveFile, position: number, length: number): Promise<Buffer> {
  return readBytesAt(archive, { position, length, cutOff: () => refused('it is cut off') })
}

interface Extent {
  readonly start: number
  readonly bytes: number
  readonly count: number
}

async function findDirectory(archive: ArchiveFile, size: number): Promise<Extent> {
  const tailBytes = Math.min(size, lengths.end + FULL_16)
  const tail = await readAt(archive, size - tailBytes, tailBytes)
  const at = endIn(tail)
  const endAt = size - tailBytes + at
  const is = {
    count: tail.readUInt16LE(at + 10),
    bytes: tail.readUInt32LE(at + 12),
    start: tail.readUInt32LE(at + 16),
  }
  if (tail.readUInt16LE(at + 4) !== 0 || tail.readUInt16LE(at + 6) !== 0)
    throw refused('it has several volumes')
  if (tail.readUInt16LE(at + 8) !== is.count) throw refused('its directory is inconsistent')
  const isLarge = is.count === FULL_16 || is.bytes === FULL_32 || is.start === FULL_32
  const large = isLarge ? await findLarge(archive, endAt) : undefined
  const { end, ...extent } = large ?? { ...is, end: endAt }
  if (extent.start + extent.bytes !== end) throw refused('its directory is not where it says')
  if (extent.count * lengths.central > extent.bytes) throw refused('its directory is too short')
  return extent
}

/** Offset of the end record: at the end of the file, followed only by a comment of the length that it says. */
function endIn(tail: Buffer): number {
  for (let at = tail.length - lengths.end; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== signatures.end) continue
    if (at + lengths.end + tail.readUInt16LE(at + 20) === tail.length) return at
  }
  throw refused('it is not a zip archive, is incomplete, or has data after its end')
}

/** Null if there is no zip64 record, so that the full values are real values. */
async function findLarge(
  archive: ArchiveFile,
  endAt: number,
): Promise<(Extent & { end: number }) | undefined> {
  if (endAt < lengths.locator64) return undefined
  const locator = await readAt(archive, endAt - lengths.locator64, lengths.locator64)
  if (locator.readUInt32LE(0) !== signatures.locator64) return undefined
  const end = safeNumber(locator, 8)
  if (end + lengths.end64 > endAt - lengths.locator64) throw refused('its directory is not where it says')
  const record = await readAt(archive, end, lengths.end64)
  if (record.readUInt32LE(0) !== signatures.end64) throw refused('its directory is not where it says')
  return { count: safeNumber(record, 32), bytes: safeNumber(record, 40), start: safeNumber(record, 48), end }
}

function safeNumber(buffer: Buffer, at: number): number {
  const value = Number(buffer.readBigUInt64LE(at))
  if (!Number.isSafeInteger(value)) throw refused('a size in it is impossible')
  return value
}

function readEntry(directory: Buffer, at: number): { entry: ZipEntry; length: number } {
  if (at + lengths.central > directory.length || directory.readUInt32LE(at) !== signatures.central) {
    throw refused('its directory is broken')
  }
  const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) =>
    directory.readUInt16LE(at + field),
  ) as [number, number, number]
  const nameAt = at + lengths.central
  const length = lengths.central + nameLength + extraLength + commentLength
  if (at + length > directory.length) throw refused('its directory is broken')
  const rawName = directory.subarray(nameAt, nameAt + nameLength)
  const marks = directory.readUInt16LE(at + 8)
  const fullName = decodeName(rawName, (marks & flags.utf8) !== 0)
  const name = safeName(fullName)
  const about = (reason: string) => refused(`"${shown(fullName)}" in it ${reason}`)
  if (marks & (flags.encrypted | flags.strong | flags.masked)) throw about('is encrypted')
  const method = directory.readUInt16LE(at + 10)
  if (method !== methods.stored && method !== methods.deflated) {
    throw about(`is packed by method ${method}; only stored and deflated are read`)
  }
  const extra = directory.subarray(nameAt + nameLength, nameAt + nameLength + extraLength)
  const sizes = sizesOf(directory, at, extra)
  const isUnix = directory.readUInt8(at + 5) === MADE_BY_UNIX
  const mode = isUnix ? directory.readUInt32LE(at + 38) >>> 16 : 0
  const kind = kindOf(fullName, mode)
  if (!kind) throw about('is a device, pipe or socket')
  if (kind !== 'directory' && name === '') throw about('has no name')
  if (kind === 'directory' && sizes.bytes !== 0) throw about('is a directory with content')
  if (method === methods.stored && sizes.packedBytes !== sizes.bytes) throw about('has a size that is a lie')
  return {
    length,
    entry: {
      name,
      rawName,
      kind,
      permissions: mode === 0 ? undefined : mode & 0o777,
      isDeflated: method === methods.deflated,
      crc: directory.readUInt32LE(at + 16),
      ...sizes,
    },
  }
}

function kindOf(name: string, mode: number): ZipEntry['kind'] | undefined {
  switch (mode & fileKinds.mask) {
    case fileKinds.link:
      return 'link'
    case fileKinds.directory:
      return 'directory'
    case 0:
    case fileKinds.file:
      return name.endsWith('/') ? 'directory' : 'file'
    default:
      return undefined
  }
}

function sizesOf(
  directory: Buffer,
  at: number,
  extra: Buffer,
): Pick<ZipEntry, 'bytes' | 'packedBytes' | 'offset'> {
  const large = largeIn(extra)
  let from = 0
  // The extra field contains only the values that are full, in this order.
  const read = (field: number): number => {
    const value = directory.readUInt32LE(at + field)
    if (value !== FULL_32 || !large) return value
    if (from + 8 > large.length) throw refused('a size in it is missing')
    from += 8
    return safeNumber(large, from - 8)
  }
  const bytes = read(24)
  const packedBytes = read(20)
  const offset = read(42)
  return { bytes, packedBytes, offset }
}

function largeIn(extra: Buffer): Buffer | undefined {
  for (let at = 0; at + 4 <= extra.length;) {
    const length = extra.readUInt16LE(at + 2)
    if (extra.readUInt16LE(at) === ZIP64_EXTRA) return extra.subarray(at + 4, at + 4 + length)
    at += 4 + length
  }
  return undefined
}

/** Refuses two entries with the same path, also if only the case differs, and a file where a directory is needed. */
async function checkNames(entries: readonly ZipEntry[]): Promise<void> {
  const seen = new Map<string, ZipEntry>()
  for (const entry of entries) {
    const key = entry.name.toLowerCase()
    if (seen.has(key)) throw refused(`"${shown(entry.name)}" is in it twice`)
    seen.set(key, entry)
  }
  for (const [index, { name }] of entries.entries()) {
    if (index % ENTRIES_AT_A_TIME === 0) await othersTurn()
    for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1)) {
      const above = seen.get(name.slice(0, end).toLowerCase())
      if (above && (above.kind !== 'directory' || above.name !== name.slice(0, end))) {
        throw refused(`"${shown(above.name)}" in it is in the way of "${shown(name)}"`)
      }
    }
  }
}

function checkAmount(entries: readonly ZipEntry[], start: number): void {
  const packed = entries.reduce((sum, { packedBytes }) => sum + packedBytes + lengths.local, 0)
  if (packed > start) throw refused('its entries overlap')
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  if (bytes > FREE_BYTES + MAX_RATIO * packed) {
    throw refused(`it would become more than ${MAX_RATIO} times as large, ${bytes} bytes`)
  }
}
