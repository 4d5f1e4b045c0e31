// Unpacks an archive into a directory that nothing else uses yet.
import { constants } from 'node:fs'
import { chmod, mkdir, open, symlink, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beginningOf, contentsOf } from '@berth/codecs/zip/contents'
import { readDirectory, type ZipEntry } from '@berth/codecs/zip/directory'
import { checkLink, shown } from '@berth/codecs/zip/names'
import { refused } from '@berth/codecs/zip/refused'

const MAX_LINK_LENGTH = 4096

export interface UnpackOptions {
  readonly archive: FileHandle
  readonly size: number
  /** An existing, empty directory. */
  readonly into: string
  /** Called with the total size before anything is written; throws if there is no room. */
  readonly checkRoom: (bytes: number) => Promise<void>
  readonly signal: AbortSignal
}

export async function unpack({ archive, size, into, checkRoom, signal }: UnpackOptions): Promise<void> {
  const { entries, start } = await readDirectory(archive, size)
  await checkRoom(entries.reduce((sum, { bytes }) => sum + bytes, 0))
  const links: { path: string; target: string }[] = []
  const made = new Set([into])
  const directory = async (path: string) => {
    if (made.has(path)) return
    await mkdir(path, { recursive: true, mode: 0o755 })
    for (let above = path; !made.has(above); above = dirname(above)) made.add(above)
  }
  for (const [index, entry] of entries.entries()) {
    signal.throwIfAborted()
    const next = entries[index + 1]?.offset ?? start
    const path = join(into, entry.name)
    if (entry.kind === 'directory') {
      await beginningOf(archive, entry, next)
      await directory(path)
      continue
    }
    await directory(dirname(path))
    const content = contentsOf(archive, entry, { next, signal })
    if (entry.kind === 'link') links.push({ path, target: await linkTarget(entry, content) })
    else await writeEntry(entry, content, path)
  }
  // Last, so that no file is written through a link.
  for (const { path, target } of links) await symlink(target, path)
  for (const { kind, name, permissions } of entries.toReversed()) {
    if (kind === 'directory' && permissions !== undefined) await chmod(join(into, name), permissions | 0o700)
  }
}

async function writeEntry({ permissions = 0o644 }: ZipEntry, content: AsyncIterable<Buffer>, path: string) {
  const flag = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const file = await open(path, flag, 0o600)
  try {
    await file.writeFile(content)
    await file.chmod(permissions)
  } finally {
    await file.close()
  }
}

async function linkTarget({ name, bytes }: ZipEntry, content: AsyncIterable<Buffer>): Promise<string> {
  if (bytes > MAX_LINK_LENGTH) throw refused(`the link "${shown(name)}" in it is too long`)
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  const target = Buffer.concat(chunks).toString()
  checkLink(name, target)
  return target
}
