// Keeps a process's output on the instance's disk, in the same frames that readers receive. So a process never
// waits for its readers, and each reader reads at its own pace. There is a limit per process and one for all.
// Beyond it the oldest output is dropped, and a reader that has not read it yet learns how much it missed.
//
// File access is synchronous on purpose: the files are in memory (tmpfs), where a thread costs more than the copy.
import { closeSync, constants, openSync, readSync, unlinkSync, writevSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_OUTPUT_FRAME_BYTES } from '@berth/contracts/link'
import { FRAME_HEAD_BYTES, frameHead } from '@berth/codecs/frames/frames'

export interface SpoolLimits {
  readonly maxBytes: number
  readonly maxBytesOfAll: number
  /** Output is dropped in units of this size. */
  readonly segmentBytes: number
}

interface Segment {
  readonly spool: Spool
  readonly descriptor: number
  /** Bytes that the process wrote before this segment. */
  writtenBefore: number
  size: number
}

/** A reader's position. */
export interface Position {
  /** The segment's number. */
  number: number
  offset: number
  /** Bytes of output that the reader has passed. */
  passed: number
}

/** Whole frames, or the size of a gap. */
export type Piece = { readonly frames: Buffer } | { readonly droppedBytes: number }

const BLOCK_BYTES = 4 * (MAX_OUTPUT_FRAME_BYTES + FRAME_HEAD_BYTES)

/** The spools of all processes, and their shared limit. */
export class Spools {
  readonly #directory: string
  readonly limits: SpoolLimits
  /** Oldest first. */
  readonly #segments = new Set<Segment>()
  #size = 0
  #begun = 0

  constructor({ directory, limits }: { directory: string; limits: SpoolLimits }) {
    this.#directory = directory
    this.limits = limits
  }

  /** Bytes on the disk. */
  get size(): number {
    return this.#size
  }

  begin(spool: Spool, writtenBefore: number): Segment {
    const path = join(this.#directory, `.berth-output-${process.pid}-${this.#begun++}`)
    const { O_RDWR, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
    const descriptor = openSync(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
    // Unlinked at once, so that the file goes away with its descriptor even if the agent crashes.
    unlinkSync(path)
    const segment = { spool, descriptor, writtenBefore, size: 0 }
    this.#segments.add(segment)
    return segment
  }

  grew(bytes: number): void {
    this.#size += bytes
    for (const segment of this.#segments) {
      if (this.#size <= this.limits.maxBytesOfAll) return
      segment.spool.drop(segment)
    }
  }

  dropped(segment: Segment): void {
    if (!this.#segments.delete(segment)) return
    this.#size -= segment.size
    closeSync(segment.descriptor)
  }
}

export class Spool {
  readonly #spools: Spools
  #segments: Segment[] = []
  /** Number of the oldest kept segment. */
  #firstNumber = 0
  #size = 0
  #written = 0
  /** Output was lost, so the next write starts a new segment. */
  #isBroken = false
  #isEnded = false
  readonly #waiting = new Set<() => void>()

  constructor(spools: Spools) {
    this.#spools = spools
  }

  /** True when no more output will come; readers then reach the end. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Output without room on the disk is lost, and readers learn of it. */
  write(kind: number, chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += MAX_OUTPUT_FRAME_BYTES) {
      const payload = chunk.subarray(at, at + MAX_OUTPUT_FRAME_BYTES)
      const isKept = this.#append(kind, payload)
      this.#written += payload.length
      this.#isBroken = !isKept
    }
    this.#wake()
  }

  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  /** Drops all output. */
  close(): void {
    this.end()
    for (const segment of this.#segments) this.#spools.dropped(segment)
    this.#segments = []
  }

  /** Call only with the oldest segment. */
  drop(segment: Segment): void {
    this.#segments.shift()
    this.#firstNumber++
    this.#size -= segment.size
    this.#spools.dropped(segment)
  }

  /** Reads from `position` and advances it; undefined when there is no more, for now or for good. */
  next(position: Position): Piece | undefined {
    if (position.number < this.#firstNumber) Object.assign(position, { number: this.#firstNumber, offset: 0 })
    while (position.offset === this.#at(position)?.size && this.#at(position, 1)) {
      Object.assign(position, { number: position.number + 1, offset: 0 })
    }
    const segment = this.#at(position)
    const hasMore = segment !== undefined && position.offset < segment.size
    const reached = hasMore ? position.offset === 0 && segment.writtenBefore : this.#isEnded && this.#written
    if (reached !== false && position.passed < reached) {
      const droppedBytes = reached - position.passed
      position.passed = reached
      return { droppedBytes }
    }
    return hasMore ? { frames: read(segment, position) } : undefined
  }

  /** Calls back once, when `next` is worth another try. */
  whenMore(callback: () => void): Disposable {
    this.#waiting.add(callback)
    return { [Symbol.dispose]: () => void this.#waiting.delete(callback) }
  }

  #append(kind: number, payload: Buffer): boolean {
    const length = FRAME_HEAD_BYTES + payload.length
    try {
      const segment = this.#segmentFor(length)
      const written = writevSync(segment.descriptor, [frameHead(kind, payload.length), payload], segment.size)
      // An incomplete frame: the next one overwrites it.
      if (written < length) return false
      segment.size += length
      this.#size += length
      this.#spools.grew(length)
      while (this.#size > this.#spools.limits.maxBytes) this.drop(this.#segments[0]!)
      return true
    } catch {
      // The tenant has used up the disk or the descriptors.
      return false
    }
  }

  #segmentFor(length: number): Segment {
    const last = this.#segments.at(-1)
    if (last?.size === 0) {
      last.writtenBefore = this.#written
      return last
    }
    if (last && !this.#isBroken && last.size + length <= this.#spools.limits.segmentBytes) return last
    const segment = this.#spools.begin(this, this.#written)
    this.#segments.push(segment)
    return segment
  }

  #at({ number }: Position, further = 0): Segment | undefined {
    return this.#segments[number + further - this.#firstNumber]
  }

  #wake(): void {
    if (this.#waiting.size === 0) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }
}

/** As many whole frames as a block holds. */
function read(segment: Segment, position: Position): Buffer {
  const block = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, segment.size - position.offset))
  readSync(segment.descriptor, block, 0, block.length, position.offset)
  let end = 0
  while (end + FRAME_HEAD_BYTES <= block.length) {
    const length = block.readUInt32BE(end + 1)
    if (end + FRAME_HEAD_BYTES + length > block.length) break
    end += FRAME_HEAD_BYTES + length
    position.passed += length
  }
  position.offset += end
  // Owns its whole memory, so that it can be released.
  return end === block.length ? block : Buffer.from(block.buffer.transfer(end))
}
