// The pieces of a tar archive: heads, the padding after content, and the end.
import { BLOCK, fits, writeHeader } from './header.ts'
import { paddingOf } from './reader.ts'

const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700

export interface NewTarEntry {
  /** Without a slash at either end. */
  readonly path: string
  readonly kind: 'file' | 'directory'
  /** Of a file. */
  readonly size: number
  readonly mtimeSeconds: number
}

/** Everything before the content of an entry. Files are their owner's alone, whatever they were. */
export function tarHead({ path, kind, size, mtimeSeconds }: NewTarEntry): Buffer {
  const isDirectory = kind === 'directory'
  const name = isDirectory ? `${path}/` : path
  const head = writeHeader({
    path: name,
    typeFlag: isDirectory ? '5' : '0',
    size: isDirectory ? 0 : size,
    mode: isDirectory ? DIRECTORY_MODE : FILE_MODE,
    mtimeSeconds,
  })
  return fits(name) ? head : Buffer.concat([longName(name, mtimeSeconds), head])
}

/** An entry before the entry that has its name, as POSIX has it. */
function longName(path: string, mtimeSeconds: number): Buffer {
  const record = recordOf('path', path)
  const header = { path: 'PaxHeader', typeFlag: 'x', size: record.length, mode: FILE_MODE, mtimeSeconds }
  return Buffer.concat([writeHeader(header), record, tarPadding(record.length)])
}

/** Its own length is part of the record, and so of its length. */
function recordOf(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`)
  let length = rest.length + 1
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length
  return Buffer.concat([Buffer.from(String(length)), rest])
}

export const tarPadding = (size: number) => Buffer.alloc(paddingOf(size))

export const TAR_END = Buffer.alloc(2 * BLOCK)
