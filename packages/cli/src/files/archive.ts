// A directory as a zip archive, in memory and bounded.
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { ZipWriter } from '@berth/codecs/zip/writer'
import { Failure } from '../basics/failure.ts'
import { sizeText } from '../output/value-text.ts'
import { isIgnored, rulesAbove, rulesIn, type Rules } from './ignored.ts'

export interface Archive {
  readonly bytes: Buffer
  readonly files: readonly string[]
}

export interface ArchiveOptions {
  /** Leave out what git does. */
  readonly followsGit?: boolean
  /** By its path in the directory. */
  readonly leavesOut?: (name: string) => boolean
  readonly maxBytes?: number
}

/** Before packing; what the server takes is less. */
const MAX_BYTES = 2_000_000_000
const MAX_FILES = 100_000

export async function zipDirectory(directory: string, options: ArchiveOptions = {}): Promise<Archive> {
  const entries = await filesOf(directory, options)
  const zip = new ZipWriter()
  const pieces: Buffer[] = []
  for (const { name, path, kind, mode, mtime } of entries) {
    const content =
      kind === 'directory'
        ? EMPTY
        : kind === 'link'
          ? Buffer.from(await readlink(path))
          : await readFile(path)
    const full = kind === 'directory' ? `${name}/` : name
    pieces.push(zip.add({ name: full, kind, permissions: mode & 0o777, modifiedAt: mtime }, content))
  }
  pieces.push(...zip.end())
  return {
    bytes: Buffer.concat(pieces),
    files: entries.filter(({ kind }) => kind !== 'directory').map(({ name }) => name),
  }
}

const EMPTY = Buffer.alloc(0)

interface Entry {
  readonly name: string
  readonly path: string
  readonly kind: 'file' | 'link' | 'directory'
  readonly mode: number
  readonly mtime: Date
}

async function filesOf(root: string, options: ArchiveOptions): Promise<Entry[]> {
  const { followsGit = false, leavesOut, maxBytes = MAX_BYTES } = options
  const found: Entry[] = []
  let size = 0
  const visit = async (directory: string, above: readonly Rules[]): Promise<void> => {
    const rules = followsGit ? [...above, ...rulesIn(directory)] : above
    for (const each of (await readdir(directory)).toSorted()) {
      const path = join(directory, each)
      const name = relative(root, path).split(sep).join('/')
      const stats = await lstat(path)
      const isDirectory = stats.isDirectory()
      if (followsGit && (basename(name) === '.git' || isIgnored(rules, path, { isDirectory }))) continue
      if (leavesOut?.(name)) continue
      // Sockets and devices have no place in an archive.
      if (!isDirectory && !stats.isFile() && !stats.isSymbolicLink()) continue
      const kind = isDirectory ? 'directory' : stats.isSymbolicLink() ? 'link' : 'file'
      found.push({ name, path, kind, mode: stats.mode, mtime: stats.mtime })
      size += stats.isFile() ? stats.size : 0
      refuseTooMuch(root, { size, count: found.length, maxBytes })
      if (isDirectory) await visit(path, rules)
    }
  }
  await visit(root, followsGit ? rulesAbove(root) : [])
  return found
}

function refuseTooMuch(
  root: string,
  { size, count, maxBytes }: { size: number; count: number; maxBytes: number },
): void {
  const remedy = 'Name what is not needed in a .gitignore, such as node_modules'
  if (size > maxBytes)
    throw new Failure(`Cannot pack ${root}: it has more than ${sizeText(maxBytes)}`, { exitCode: 2, remedy })
  if (count > MAX_FILES)
    throw new Failure(`Cannot pack ${root}: it has more than ${MAX_FILES} files`, { exitCode: 2, remedy })
}
