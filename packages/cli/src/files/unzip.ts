// Unpacks an archive of a session, so nothing in it is trusted: names stay in the directory, links are not made, and the
// reader bounds every size.
import { createWriteStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { contentsOf } from '@berth/codecs/zip/contents'
import { readDirectory } from '@berth/codecs/zip/directory'

export async function unzip(file: string, directory: string, signal: AbortSignal): Promise<void> {
  const archive = await open(file)
  try {
    const { size } = await archive.stat()
    const { entries, start } = await readDirectory(archive, size)
    for (const [at, entry] of entries.entries()) {
      const path = join(directory, entry.name)
      if (entry.kind === 'directory') await mkdir(path, { recursive: true })
      if (entry.kind !== 'file') continue
      await mkdir(dirname(path), { recursive: true })
      const next = entries[at + 1]?.offset ?? start
      // Never with the set-user-id bits that the archive may name.
      const mode = 0o600 | ((entry.permissions ?? 0o644) & 0o777)
      await pipeline(
        Readable.from(contentsOf(archive, entry, { next, signal })),
        createWriteStream(path, { mode }),
        { signal },
      )
    }
  } finally {
    await archive.close()
  }
}
