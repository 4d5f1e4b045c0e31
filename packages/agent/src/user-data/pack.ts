// Packs a user-data directory as a tar stream. Chromium does not write to it meanwhile. A program of the tenant may, but
// cannot make the stream malformed.
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { isKept } from '@berth/contracts/profile-archive'
import { TAR_END, tarHead, tarPadding } from '@berth/codecs/tar/writer'

const PIECE_BYTES = 256 * 1024

export function* packDirectory(root: string): Generator<Buffer> {
  // Small files are sent together; a piece for each would cost more than its content.
  let held: Buffer[] = []
  let heldBytes = 0
  for (const piece of piecesOf(root, '')) {
    held.push(piece)
    heldBytes += piece.length
    if (heldBytes < PIECE_BYTES) continue
    yield Buffer.concat(held)
    held = []
    heldBytes = 0
  }
  yield Buffer.concat([...held, TAR_END])
}

function* piecesOf(root: string, below: string): Generator<Buffer> {
  for (const entry of entriesOf(`${root}/${below}`)) {
    const path = `${below}${entry.name}`
    if (!isKept(path)) continue
    if (entry.isDirectory()) {
      yield tarHead({ path, kind: 'directory', size: 0, mtimeSeconds: 0 })
      yield* piecesOf(root, `${path}/`)
    } else if (entry.isFile()) yield* fileIn(root, path)
  }
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    // The file is gone, or cannot be read.
    return []
  }
}

function* fileIn(root: string, path: string): Generator<Buffer> {
  let file: number
  try {
    // Does not follow a link that has replaced the file.
    file = openSync(`${root}/${path}`, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return
  }
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) return
    const { size } = stats
    yield tarHead({ path, kind: 'file', size, mtimeSeconds: Math.floor(stats.mtimeMs / 1000) })
    // Exactly as long as its head says, even if the file changes.
    for (let at = 0; at < size;) {
      const piece = Buffer.alloc(Math.min(PIECE_BYTES, size - at))
      readSync(file, piece, 0, piece.length, at)
      at += piece.length
      yield piece
    }
    yield tarPadding(size)
  } finally {
    closeSync(file)
  }
}
