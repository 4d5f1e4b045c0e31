// Files as the API shows them.
import { lstatSync, type Stats } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ControlError } from '../calls/operation.ts'
import { bytesOf, toBytePath, toText } from './disk/byte-paths.ts'
import { refuse } from './disk/refusal.ts'

const MAX_ENTRIES = 100_000
/** Limit of the answer, below the server's own limit. */
const MAX_BYTES = 16 * 1024 * 1024
/** Size of an entry in the answer without its name and path. */
const ENTRY_BYTES = 130

export interface FileInfo {
  readonly name: string
  readonly path: string
  readonly size_bytes: number
  readonly is_dir: boolean
  readonly mod_time: string
  readonly mode: string
}

export function describe(path: string, stats: Stats): FileInfo {
  const isDirectory = stats.isDirectory()
  return {
    name: basename(path) || '/',
    path,
    size_bytes: isDirectory ? 0 : stats.size,
    is_dir: isDirectory,
    mod_time: stats.mtime.toISOString(),
    mode: modeText(stats),
  }
}

/** Leaves out entries that disappear during the listing. */
export async function list(path: string): Promise<FileInfo[]> {
  const files: FileInfo[] = []
  let bytes = 0
  const at = toBytePath(path)
  if (!(await stat(path).catch(refuse(path))).isDirectory()) {
    throw new ControlError('bad_request', `Cannot list "${path}": it is not a directory`)
  }
  const directory = await opendir(path, { encoding: 'latin1', bufferSize: 256 }).catch(refuse(path))
  for await (const { name } of directory) {
    // Synchronous: on a worker thread each call takes ten times as long.
    const stats = lstatSync(bytesOf(`${at}/${name}`), { throwIfNoEntry: false })
    if (!stats) continue
    const file = describe(join(path, toText(name)), stats)
    bytes += ENTRY_BYTES + file.name.length + file.path.length
    if (files.push(file) > MAX_ENTRIES || bytes > MAX_BYTES) throw tooMany(path)
  }
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function tooMany(path: string): ControlError {
  return new ControlError(
    'bad_request',
    `Cannot list "${path}": it has too many entries (at most ${MAX_ENTRIES}); list it with a process instead`,
  )
}

const BITS = 'rwxrwxrwx'
const SPECIAL = [
  { bit: 0o4000, at: 2, letter: 's' },
  { bit: 0o2000, at: 5, letter: 's' },
  { bit: 0o1000, at: 8, letter: 't' },
]

function modeText(stats: Stats): string {
  const letters = BITS.split('').map((letter, index) => (stats.mode & (1 << (8 - index)) ? letter : '-'))
  for (const { bit, at, letter } of SPECIAL) {
    if (stats.mode & bit) letters[at] = letters[at] === '-' ? letter.toUpperCase() : letter
  }
  return kindOf(stats) + letters.join('')
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'd'
  if (stats.isSymbolicLink()) return 'l'
  if (stats.isFIFO()) return 'p'
  if (stats.isSocket()) return 's'
  if (stats.isCharacterDevice()) return 'c'
  return stats.isBlockDevice() ? 'b' : '-'
}
