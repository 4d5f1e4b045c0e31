// Checks the whole archive of an extension, so that every stored archive can be unpacked and has a manifest that
// Chromium accepts, as far as that is known without a browser.
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { MAX_UNPACKED_BYTES } from '@berth/contracts/extension-limits'
import {
  MANIFEST,
  MAX_MANIFEST_BYTES,
  readManifest,
  rootOf,
  type Manifest,
} from '@berth/contracts/extension-manifest'
import { BadInput } from '@berth/kit/bad-input'
import { contentsOf } from '@berth/codecs/zip/contents'
import { copyArchive } from '@berth/codecs/zip/copy'
import { readDirectory, type ArchiveFile, type ZipDirectory } from '@berth/codecs/zip/directory'
import { readCrx } from '@berth/codecs/crx/read'

const MAX_ENTRIES = 20_000

export interface CheckedArchive {
  readonly manifest: Manifest
  /** A zip archive. */
  content(): Readable
}

export async function checkArchive(
  file: FileHandle,
  size: number,
  signal: AbortSignal,
): Promise<CheckedArchive> {
  const crx = await readCrx(file, size, signal)
  const start = crx?.start ?? 0
  const archive = from(file, start)
  const directory = await readDirectory(archive, size - start)
  const { entries } = directory
  if (entries.length > MAX_ENTRIES) throw refused(`it has more than ${MAX_ENTRIES} files`)
  const unpacked = entries.reduce((sum, { bytes }) => sum + bytes, 0)
  if (unpacked > MAX_UNPACKED_BYTES) {
    throw refused(`it would be larger than ${MAX_UNPACKED_BYTES / 1024 / 1024} MiB when unpacked`)
  }
  if (entries.some(({ kind }) => kind === 'link')) throw refused('it contains a link')
  const root = rootOf(entries.map(({ name }) => name))
  if (root === undefined) throw refused(`it has no ${MANIFEST}, neither at its top nor in its one directory`)
  const text = await readThrough(archive, directory, { wanted: root + MANIFEST, signal })
  const manifest = understood(text)
  if (!crx) return { manifest, content: () => whole(file, size) }
  const withKey = JSON.stringify({ ...manifest.fields, key: crx.key }, null, 2)
  const replacement = { name: root + MANIFEST, content: Buffer.from(withKey) }
  return {
    manifest,
    content: () => Readable.from(copyArchive(archive, directory, replacement), { objectMode: false }),
  }
}

/** Keeps the file open, because it has no name to open it again. */
function whole(file: FileHandle, size: number): Readable {
  return file.createReadStream({ start: 0, end: size - 1, autoClose: false })
}

function from(file: FileHandle, start: number): ArchiveFile {
  if (start === 0) return file
  return { read: (buffer, offset, length, position) => file.read(buffer, offset, length, start + position) }
}

/** Returns the wanted file, and checks sizes and checksums of all others. */
async function readThrough(
  archive: ArchiveFile,
  { entries, start }: ZipDirectory,
  { wanted, signal }: { wanted: string; signal: AbortSignal },
): Promise<string> {
  const chunks: Buffer[] = []
  for (const [index, entry] of entries.entries()) {
    signal.throwIfAborted()
    if (entry.kind === 'directory') continue
    const isWanted = entry.name === wanted
    if (isWanted && entry.bytes > MAX_MANIFEST_BYTES) throw refused('its manifest is too large')
    const next = entries[index + 1]?.offset ?? start
    for await (const chunk of contentsOf(archive, entry, { next, signal })) {
      if (isWanted) chunks.push(chunk)
    }
  }
  return Buffer.concat(chunks).toString()
}

function understood(text: string): Manifest {
  try {
    return readManifest(text)
  } catch (error) {
    throw refused((error as Error).message)
  }
}

function refused(reason: string): BadInput {
  return new BadInput(`Cannot accept the extension: ${reason}`)
}
