// What a process writes is kept on the instance's disk, in the very frames that a reader is sent: so a
// process never waits for its readers, and readers read at their own pace. There is a bound for each process
// and one for all; beyond it the oldest goes, and a reader that has not read it yet is told how much it
// missed.
//
// Files are synchronous on purpose: they are in memory (tmpfs), where a thread costs more than the copy.
import { closeSync, constants, openSync, readSync, unlinkSync, writevSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_OUTPUT_FRAME_BYTES } from '@berth/contracts/link'
import { FRAME_HEAD_BYTES, frameHead } from '@berth/codecs/frames'

export interface SpoolLimits {
  readonly maxBytes: number
  readonly maxBytesOfAll: number
  /** What goes at once when it is too much. */
  readonly segmentBytes: number
}

interface Segment {
  readonly spool: Spool
  readonly descriptor: number
  /** How much the process had written before what is in here. */
  writtenBefore: number
  size: number
}

/** Where a reader is. */
export interface Position {
  /** Of the segment. */
  number: number
  offset: number
  /** How much of what the process wrote lies behind it. */
  passed: number
}

/** Whole frames, or how much is missing here. */
export type Piece = { readonly frames: Buffer } | { readonly droppedBytes: number }

const BLOCK_BYTES = 4 * (MAX_OUTPUT_FRAME_BYTES + FRAME_HEAD_BYTES)

/** The spools of all processes, and the bound that they share. */
export class Spools {
  readonly #directory: string
  readonly limits: SpoolLimits
  /** In the order they were begun. */
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
    // Without a name it is gone with its descriptor, whatever becomes of us.
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
  /** Of the first that is kept: those before are gone. */
  #firstNumber = 0
  #size = 0
  #written = 0
  /** What comes next does not follow what is there. */
  #isBroken = false
  #isEnded = false
  readonly #waiting = new Set<() => void>()

  constructor(spools: Spools) {
    this.#spools = spools
  }

  /** Nothing will be written any more, and who reads comes to an end. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** What finds no room on the disk is lost, and readers are told so. */
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

  /** Forgets all of it. */
  close(): void {
    this.end()
    for (const segment of this.#segments) this.#spools.dropped(segment)
    this.#segments = []
  }

  /** Only ever the oldest one. */
  drop(segment: Segment): void {
    this.#segments.shift()
    this.#firstNumber++
    this.#size -= segment.size
    this.#spools.dropped(segment)
  }

  /** From `position`, which moves on; undefined when there is no more yet, or never will be. */
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
      // Half a frame: the next one is written over it.
      if (written < length) return false
      segment.size += length
      this.#size += length
      this.#spools.grew(length)
      while (this.#size > this.#spools.limits.maxBytes) this.drop(this.#segments[0]!)
      return true
    } catch {
      // No room on the disk or no descriptor, which the tenant has used up.
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
  // All of its memory, so that it can be given back.
  return end === block.length ? block : Buffer.from(block.buffer.transfer(end))
}
