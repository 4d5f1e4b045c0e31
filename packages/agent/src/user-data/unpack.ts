// Unpacks the server's archive, which the server has checked: files and directories below the given one.
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { readTar, type TarEntry } from '@berth/codecs/tar/reader'

/** Smaller files are written in one call. */
const SMALL_BYTES = 1024 * 1024

/** The directory must exist and be empty. */
export async function unpackInto(root: string, archive: AsyncIterable<Buffer>): Promise<void> {
  const made = new Set([root])
  const make = (directory: string) => {
    if (made.has(directory)) return
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    made.add(directory)
  }
  for await (const entry of readTar(archive)) {
    const path = `${root}/${entry.path.replace(/\/$/, '')}`
    if (entry.kind === 'directory') make(path)
    if (entry.kind !== 'file') continue
    make(dirname(path))
    await writeEntry(path, entry)
  }
}

async function writeEntry(path: string, entry: TarEntry): Promise<void> {
  if (entry.size <= SMALL_BYTES) {
    const pieces: Buffer[] = []
    for await (const piece of entry.content()) pieces.push(piece)
    return writeFileSync(path, pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), { mode: 0o600 })
  }
  const file = openSync(path, 'wx', 0o600)
  try {
    for await (const piece of entry.content()) {
      for (let at = 0; at < piece.length;) at += writeSync(file, piece, at)
    }
  } finally {
    closeSync(file)
  }
}
