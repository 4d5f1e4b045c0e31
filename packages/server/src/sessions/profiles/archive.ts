// An archive of a user-data directory, from an instance or from a caller, neither of which is to be believed. It is
// read entry by entry and written anew: what comes out has files and directories below its top and nothing else,
// is bounded, and is the same however it was packed before.
import { isKept, PROFILE_DIRECTORY } from '@berth/contracts/profile-archive'
import { WrongTar } from '@berth/codecs/tar/header'
import { readTar, type TarEntry } from '@berth/codecs/tar/reader'
import { TAR_END, tarHead, tarPadding } from '@berth/codecs/tar/writer'

const MAX_ENTRIES = 100_000
const MAX_PATH_BYTES = 1_024
const MAX_NAME_BYTES = 255
const MAX_DEPTH = 32
/** What is left out must be read as well: caches may be larger than what is kept, but not without end. */
const MAX_READ_PER_KEPT = 4
const PIECE_BYTES = 128 * 1024

/** It is not what it should be. */
export class WrongArchive extends Error {}
export class ArchiveTooLarge extends Error {}

export async function* cleanArchive(
  source: AsyncIterable<Uint8Array>,
  { maxBytes }: { maxBytes: number },
): AsyncGenerator<Buffer> {
  const most = `${Math.floor(maxBytes / 1024 / 1024)} MB`
  const tooLarge = () => new ArchiveTooLarge(`it is larger than ${most}, see BERTH_PROFILE_MAX_MB`)
  try {
    const bounded = upTo(source, maxBytes * MAX_READ_PER_KEPT, tooLarge)
    let written = 0
    for await (const piece of gathered(rewritten(bounded))) {
      written += piece.length
      if (written > maxBytes) throw tooLarge()
      yield piece
    }
  } catch (error) {
    throw error instanceof WrongTar ? new WrongArchive(error.message, { cause: error }) : error
  }
}

async function* rewritten(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const directories = new Set<string>()
  const files = new Set<string>()
  let count = 0
  for await (const entry of readTar(source)) {
    if (++count > MAX_ENTRIES) throw new ArchiveTooLarge(`it has more than ${MAX_ENTRIES} entries`)
    const path = pathOf(entry)
    // Links, devices and the like: a user-data directory has none that is worth keeping.
    if (path === undefined || entry.kind === 'other' || !isKept(path)) continue
    const parts = path.split('/')
    const depth = entry.kind === 'directory' ? parts.length : parts.length - 1
    for (let length = 1; length <= depth; length++) {
      const directory = parts.slice(0, length).join('/')
      if (files.has(directory)) throw new WrongArchive(`"${directory}" is a file and a directory in it`)
      if (directories.has(directory)) continue
      directories.add(directory)
      yield tarHead({ path: directory, kind: 'directory', size: 0, mtimeSeconds: 0 })
    }
    if (entry.kind === 'directory') continue
    if (files.has(path) || directories.has(path)) throw new WrongArchive(`"${path}" is in it twice`)
    files.add(path)
    const { size, mtimeSeconds } = entry
    yield tarHead({ path, kind: 'file', size, mtimeSeconds })
    yield* entry.content()
    yield tarPadding(size)
  }
  if (!directories.has(PROFILE_DIRECTORY)) {
    throw new WrongArchive(`it has no "${PROFILE_DIRECTORY}/" at its top, as a user-data directory has`)
  }
  yield TAR_END
}

/** Undefined for one that cannot be kept, and for the top itself. */
function pathOf({ path }: TarEntry): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (path.startsWith('/') || parts.includes('..')) {
    throw new WrongArchive(`it has a path that leads out of it: ${JSON.stringify(path.slice(0, 100))}`)
  }
  const name = parts.join('/')
  const isLong =
    Buffer.byteLength(name) > MAX_PATH_BYTES ||
    parts.length > MAX_DEPTH ||
    parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)
  // U+FFFD is what bytes that are no text become.
  if (name === '' || isLong || /[\p{Cc}\p{Cs}\uFFFD]/u.test(name)) return undefined
  return name
}

async function* upTo(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooLarge: () => Error,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const piece of source) {
    bytes += piece.length
    if (bytes > maxBytes) throw tooLarge()
    yield piece
  }
}

/** Heads and small files together: each on its own would be a turn through every stream that follows. */
async function* gathered(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let heldBytes = 0
  for await (const piece of pieces) {
    held.push(piece)
    heldBytes += piece.length
    if (heldBytes < PIECE_BYTES) continue
    yield Buffer.concat(held)
    held = []
    heldBytes = 0
  }
  if (heldBytes > 0) yield Buffer.concat(held)
}
