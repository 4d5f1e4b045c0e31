// Cleans the archive of a user-data directory. Its source, an instance or a caller, is untrusted. Each entry is read
// and rewritten, so the result has a limited size, contains only files and directories below its root, and does not
// depend on how the source was packed.
import { isKept, PROFILE_DIRECTORY } from '@berth/contracts/profile-archive'
import { WrongTar } from '@berth/codecs/tar/header'
import { readTar, type TarEntry } from '@berth/codecs/tar/reader'
import { TAR_END, tarHead, tarPadding } from '@berth/codecs/tar/writer'

const MAX_ENTRIES = 100_000
const MAX_PATH_BYTES = 1_024
const MAX_NAME_BYTES = 255
const MAX_DEPTH = 32
/** The names of all entries together, which are held in memory. */
const MAX_NAMES_LENGTH = 16 * 1024 * 1024
/** Skipped entries must be read as well. Caches may be larger than the kept files, but not without limit. */
const MAX_READ_PER_KEPT = 4
const PIECE_BYTES = 128 * 1024

/** The archive is malformed or is not a user-data directory. */
export class WrongArchive extends Error {}
export class ArchiveTooLarge extends Error {}

export async function* cleanArchive(
  source: AsyncIterable<Uint8Array>,
  { maxBytes }: { maxBytes: number },
): AsyncGenerator<Buffer> {
  const limit = `${Math.floor(maxBytes / 1024 / 1024)} MB`
  const tooLarge = () => new ArchiveTooLarge(`it is larger than ${limit}, see BERTH_PROFILE_MAX_MB`)
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
  let namesLength = 0
  const remember = (set: Set<string>, path: string) => {
    namesLength += path.length
    if (namesLength > MAX_NAMES_LENGTH)
      throw new ArchiveTooLarge('the names of its entries are too long together')
    set.add(path)
  }
  for await (const entry of readTar(source)) {
    if (++count > MAX_ENTRIES) throw new ArchiveTooLarge(`it has more than ${MAX_ENTRIES} entries`)
    const path = pathOf(entry)
    // A user-data directory has no links, devices and the like that are worth keeping.
    if (path === undefined || entry.kind === 'other' || !isKept(path)) continue
    const parts = path.split('/')
    const depth = entry.kind === 'directory' ? parts.length : parts.length - 1
    for (let length = 1; length <= depth; length++) {
      const directory = parts.slice(0, length).join('/')
      if (files.has(directory))
        throw new WrongArchive(`it contains "${directory}" as both a file and a directory`)
      if (directories.has(directory)) continue
      remember(directories, directory)
      yield tarHead({ path: directory, kind: 'directory', size: 0, mtimeSeconds: 0 })
    }
    if (entry.kind === 'directory') continue
    if (files.has(path) || directories.has(path)) throw new WrongArchive(`it contains "${path}" twice`)
    remember(files, path)
    const { size, mtimeSeconds } = entry
    yield tarHead({ path, kind: 'file', size, mtimeSeconds })
    yield* entry.content()
    yield tarPadding(size)
  }
  if (!directories.has(PROFILE_DIRECTORY)) {
    throw new WrongArchive(
      `it is no user-data directory: "${PROFILE_DIRECTORY}/" is missing at its top level`,
    )
  }
  yield TAR_END
}

/** Undefined for paths that are skipped, and for the root. */
function pathOf({ path }: TarEntry): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (path.startsWith('/') || parts.includes('..')) {
    throw new WrongArchive(`it contains a path outside of its root: ${JSON.stringify(path.slice(0, 100))}`)
  }
  const name = parts.join('/')
  const isLong =
    Buffer.byteLength(name) > MAX_PATH_BYTES ||
    parts.length > MAX_DEPTH ||
    parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)
  // Invalid UTF-8 is decoded to U+FFFD.
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

/** Joins headers and small files, because each chunk costs a pass through every later stream. */
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
