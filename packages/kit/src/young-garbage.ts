// The pieces that a socket is read in are garbage soon after, but to V8 each is a small object that happens to hold
// 64 KiB elsewhere: it lets up to 64 MB of them gather before it looks. Where a gigabyte passes, we say when to look,
// which takes a millisecond or two as next to nothing of it is still in use.
import type { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** By 4 MB and more a server with its heap is not quick enough: V8 begins to mark all of it, 80 ms each time. */
const EVERY_BYTES = 2 * 1024 * 1024

type Collect = (options: { type: 'minor' }) => void

let collect: Collect | undefined
let bytesSince = 0

/** For a stream whose pieces are passed on and forgotten. Listening to it instead would set it flowing. */
export function countPassed(stream: Readable): void {
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
