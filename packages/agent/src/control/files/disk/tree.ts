// Operations on whole directories. Entries are read one by one, so that any size works.
import {
  chmod,
  lstat,
  mkdir,
  open,
  opendir,
  readlink,
  rmdir,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises'
import { constants, type Stats } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { bytesOf, toText } from './byte-paths.ts'
import { isMissing } from './refusal.ts'
import { openRegular, refuseKind } from './regular-file.ts'

const AT_ONCE = 256
/** How often to empty a directory that something else keeps filling. */
const MAX_ROUNDS = 10

export interface Entry {
  readonly name: string
  /** A byte path. */
  readonly path: string
  readonly isDirectory: boolean
}

export async function* entriesOf(bytePath: string): AsyncGenerator<Entry> {
  const directory = await opendir(bytesOf(bytePath), {
    encoding: 'latin1',
    bufferSize: AT_ONCE,
  })
  for await (const entry of directory) {
    yield { name: entry.name, path: `${bytePath}/${entry.name}`, isDirectory: entry.isDirectory() }
  }
}

/** Removes links without following them. Missing entries are fine. */
export async function removeTree(bytePath: string, signal?: AbortSignal): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      for await (const { path, isDirectory } of entriesOf(bytePath)) {
        signal?.throwIfAborted()
        if (isDirectory) await removeTree(path, signal)
        else await unlink(bytesOf(path)).catch(unlessMissing)
      }
      await rmdir(bytesOf(bytePath))
      return
    } catch (error) {
      if (isMissing(error)) return
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || round === MAX_ROUNDS) throw error
    }
  }
}

/** Keeps permissions and times; links stay links. */
export async function copyTree(from: string, to: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const stats = await lstat(bytesOf(from))
  if (stats.isSymbolicLink()) {
    await symlink(await readlink(bytesOf(from), { encoding: 'buffer' }), bytesOf(to))
    return
  }
  if (stats.isDirectory()) {
    await mkdir(bytesOf(to), { mode: 0o700 })
    for await (const { name, path } of entriesOf(from)) await copyTree(path, `${to}/${name}`, signal)
    await finish(to, stats)
    return
  }
  if (!stats.isFile()) refuseKind(toText(from), stats)
  await copyFile(from, to, signal)
  await finish(to, stats)
}

async function copyFile(from: string, to: string, signal: AbortSignal): Promise<void> {
  const source = await openRegular(toText(from), { bytes: bytesOf(from), followsLinks: false })
  const content = source.handle.createReadStream({ highWaterMark: 256 * 1024 })
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
    const target = await open(bytesOf(to), flags, 0o600)
    await pipeline(content, target.createWriteStream(), { signal })
  } finally {
    content.destroy()
  }
}

async function finish(bytePath: string, { mode, atime, mtime }: Stats): Promise<void> {
  await chmod(bytesOf(bytePath), mode & 0o7777)
  await utimes(bytesOf(bytePath), atime, mtime)
}

function unlessMissing(error: unknown): void {
  if (!isMissing(error)) throw error
}
