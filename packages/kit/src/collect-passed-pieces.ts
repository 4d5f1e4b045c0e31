// Chunks from a socket soon become garbage. V8 sees each as a small object that refers to 64 KiB elsewhere, so up to
// 64 MB of them pile up before it collects. For large streams we trigger the collection ourselves. It takes only a
// millisecond or two, because almost nothing is still in use.
import type { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** From 4 MB on, a server with a large heap is too slow: V8 starts to mark the whole heap, 80 ms each time. */
const EVERY_BYTES = 2 * 1024 * 1024

type Collect = (options: { type: 'minor' }) => void

let collect: Collect | undefined
let bytesSince = 0

/** For a stream whose chunks are passed on. Wraps push(), because a `data` listener would start the stream. */
export function collectPassedPieces(stream: Readable): void {
  const push = stream.push.bind(stream)
  stream.push = (piece: unknown, encoding?: BufferEncoding) => {
    if (piece instanceof Uint8Array) passed(piece.length)
    return push(piece, encoding)
  }
}

function passed(bytes: number): void {
  bytesSince += bytes
  if (bytesSince < EVERY_BYTES) return
  bytesSince = 0
  collect ??= findCollect()
  collect({ type: 'minor' })
}

function findCollect(): Collect {
  setFlagsFromString('--expose-gc')
  const found = runInNewContext('gc') as Collect
  setFlagsFromString('--no-expose-gc')
  return found
}
