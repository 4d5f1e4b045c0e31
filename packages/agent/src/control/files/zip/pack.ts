// Packs a directory while the archive is being sent; only the archive's directory is held in memory.
import { lstatSync, type Stats } from 'node:fs'
import { readlink, type FileHandle } from 'node:fs/promises'
import { bytesOf, toBytePath, toText } from '../disk/byte-paths.ts'
import { isTemporary } from '../disk/paths.ts'
import { openRegular } from '../disk/regular-file.ts'
import { entriesOf } from '../disk/tree.ts'
import { ZipWriter, type NewZipEntry } from '@berth/codecs/zip/writer'

/** Files up to this size are read and packed in one go. */
const SMALL_BYTES = 256 * 1024
const READ_BYTES = 256 * 1024
/** These are endless, or hold no real files. */
const NOT_ENTERED = new Set(['/proc', '/dev', '/sys'])

interface Item {
  /** A byte path. */
  readonly path: string
  /** The name in the archive, as text. */
  readonly name: string
  readonly stats: Stats
}

/** Counts everything below a directory before packing starts. */
export async function countEntries(root: string, most: number): Promise<number> {
  let count = 0
  for await (const _ of walk(toBytePath(root), '')) if (++count > most) break
  return count
}

export async function* pack(root: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const zip = new ZipWriter()
  for await (const item of walk(toBytePath(root), '')) {
    signal.throwIfAborted()
    if (item.stats.isDirectory()) yield zip.add(entryOf(item), Buffer.alloc(0))
    else if (item.stats.isSymbolicLink()) yield* packLink(zip, item)
    else yield* packFile(zip, item)
  }
  yield* zip.end()
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

/** Leaves out entries that are unreadable or disappear. */
async function* unlessUnreadable<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* items
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
  }
}

function entryOf({ name, stats }: Item): NewZipEntry {
  const kind = stats.isDirectory() ? 'directory' : stats.isSymbolicLink() ? 'link' : 'file'
  return { name, kind, permissions: stats.mode & 0o7777, modifiedAt: stats.mtime }
}

async function* packLink(zip: ZipWriter, item: Item): AsyncGenerator<Buffer> {
  const target = await readlink(bytesOf(item.path), { encoding: 'buffer' }).catch(() => undefined)
  if (target) yield zip.add(entryOf(item), target)
}

async function* packFile(zip: ZipWriter, item: Item): AsyncGenerator<Buffer> {
  const file = await openRegular(item.name, { bytes: bytesOf(item.path), followsLinks: false }).catch(
    () => undefined,
  )
  if (!file) return
  const { handle, stats } = file
  try {
    if (stats.size > SMALL_BYTES)
      return yield* zip.addStream(entryOf(item), contentOf(handle, stats.size), stats.size)
    const chunks: Buffer[] = []
    for await (const chunk of contentOf(handle, stats.size)) chunks.push(chunk)
    yield zip.add(entryOf(item), Buffer.concat(chunks))
  } finally {
    await handle.close()
  }
}

/** Reads up to the initial size, so that a file that keeps growing still ends. */
async function* contentOf(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(Math.min(READ_BYTES, size - at)))
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
