// The 512 byte head of a tar entry, in the format POSIX ustar, which every program reads.
const NAME = { at: 0, length: 100 }
const MODE = { at: 100, length: 8 }
const UID = { at: 108, length: 8 }
const GID = { at: 116, length: 8 }
const SIZE = { at: 124, length: 12 }
const MTIME = { at: 136, length: 12 }
const CHECKSUM = { at: 148, length: 8 }
const KIND = 156
const MAGIC = { at: 257, length: 6 }
const VERSION = 263
const PREFIX = { at: 345, length: 155 }

export const BLOCK = 512
const EMPTY = Buffer.alloc(BLOCK)

interface Field {
  readonly at: number
  readonly length: number
}

export interface TarHeader {
  /** Path within the archive. The path of a directory may end with a slash. */
  readonly path: string
  /** 0 or NUL: file. 5: directory. x and L: the content describes the next entry. */
  readonly typeFlag: string
  readonly size: number
  readonly mode: number
  readonly mtimeSeconds: number
}

/** The bytes are not a tar archive, or not one that can be read. */
export class WrongTar extends Error {}

/** Returns undefined for an empty block; two of them end an archive. */
export function readHeader(block: Buffer): TarHeader | undefined {
  if (block.equals(EMPTY)) return undefined
  if (numberIn(block, CHECKSUM) !== checksumOf(block)) throw new WrongTar('a head is damaged')
  const isPosix = textIn(block, MAGIC) === 'ustar'
  const prefix = isPosix ? textIn(block, PREFIX) : ''
  const name = textIn(block, NAME)
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    typeFlag: String.fromCharCode(block[KIND]!),
    size: numberIn(block, SIZE),
    mode: numberIn(block, MODE),
    mtimeSeconds: numberIn(block, MTIME),
  }
}

/** The path must fit; see fits(). */
export function writeHeader({ path, typeFlag, size, mode, mtimeSeconds }: TarHeader): Buffer {
  const block = Buffer.alloc(BLOCK)
  const { name, prefix } = split(path) ?? { name: '', prefix: '' }
  block.write(name, NAME.at)
  block.write(prefix, PREFIX.at)
  writeNumber(block, MODE, mode)
  writeNumber(block, UID, 0)
  writeNumber(block, GID, 0)
  writeNumber(block, SIZE, size)
  writeNumber(block, MTIME, Math.max(0, mtimeSeconds))
  block.write(typeFlag, KIND)
  block.write('ustar\0', MAGIC.at)
  block.write('00', VERSION)
  block.write(`${checksumOf(block).toString(8).padStart(6, '0')}\0 `, CHECKSUM.at)
  return block
}

export function fits(path: string): boolean {
  return split(path) !== undefined
}

function split(path: string): { name: string; prefix: string } | undefined {
  const bytes = Buffer.byteLength(path)
  if (bytes <= NAME.length) return { name: path, prefix: '' }
  if (bytes > NAME.length + PREFIX.length + 1) return undefined
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    const isShort = Buffer.byteLength(name) <= NAME.length && Buffer.byteLength(prefix) <= PREFIX.length
    if (isShort && name !== '') return { name, prefix }
  }
  return undefined
}

/** Counts the checksum field itself as spaces. */
function checksumOf(block: Buffer): number {
  let sum = CHECKSUM.length * 0x20
  for (let at = 0; at < CHECKSUM.at; at++) sum += block[at]!
  for (let at = CHECKSUM.at + CHECKSUM.length; at < BLOCK; at++) sum += block[at]!
  return sum
}

function textIn(block: Buffer, { at, length }: Field): string {
  const end = block.indexOf(0, at)
  const field = block.subarray(at, end === -1 || end > at + length ? at + length : end)
  return field.toString()
}

function numberIn(block: Buffer, field: Field): number {
  const first = block[field.at]!
  // A number too large for octal digits is binary: 0x80, then the number.
  if (first === 0x80) return binaryIn(block, field)
  const text = textIn(block, field).trim()
  if (text === '') return 0
  if (!/^[0-7]+$/.test(text)) throw new WrongTar('a head has no number where one should be')
  return Number.parseInt(text, 8)
}

function binaryIn(block: Buffer, { at, length }: Field): number {
  let value = 0
  for (let place = at + 1; place < at + length; place++) value = value * 256 + block[place]!
  if (!Number.isSafeInteger(value)) throw new WrongTar('a head has a number without end')
  return value
}

function writeNumber(block: Buffer, { at, length }: Field, value: number): void {
  block.write(
    `${Math.floor(value)
      .toString(8)
      .padStart(length - 1, '0')}\0`,
    at,
  )
}
