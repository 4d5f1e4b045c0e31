// Parts of a tar archive: heads, padding after content, and the end.
import { BLOCK, fits, writeHeader } from './header.ts'
import { paddingOf } from './reader.ts'

const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700

export interface NewTarEntry {
  /** Without a slash at either end. */
  readonly path: string
  readonly kind: 'file' | 'directory'
  /** Size of a file; ignored for a directory. */
  readonly size: number
  readonly mtimeSeconds: number
}

/** Everything before the content of an entry. Only the owner can read the files, whatever their mode was. */
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

/** The POSIX entry that gives the next entry its long name. */
function longName(path: string, mtimeSeconds: number): Buffer {
  const record = recordOf('path', path)
  const header = { path: 'PaxHeader', typeFlag: 'x', size: record.length, mode: FILE_MODE, mtimeSeconds }
  return Buffer.concat([writeHeader(header), record, tarPadding(record.length)])
}

/** The record begins with its own length, which counts too. */
function recordOf(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`)
  let length = rest.length + 1
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length
  return Buffer.concat([Buffer.from(String(length)), rest])
}

export const tarPadding = (size: number) => Buffer.alloc(paddingOf(size))

export const TAR_END = Buffer.alloc(2 * BLOCK)
