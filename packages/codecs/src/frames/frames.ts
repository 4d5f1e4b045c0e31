// A stream of bytes cut into frames: one byte that says of what kind it is, four for its length, and so
// many bytes. For what is too much to be made text of and back again.
import { ByteQueue } from '../bytes/byte-queue.ts'

export const FRAME_HEAD_BYTES = 5

export interface Frame {
  readonly kind: number
  readonly payload: Buffer
}

export function frameHead(kind: number, length: number): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES)
  head[0] = kind
  head.writeUInt32BE(length, 1)
  return head
}

export function toFrame(kind: number, payload: Buffer): Buffer {
  return Buffer.concat([frameHead(kind, payload.length), payload])
}

/** Finds the frames in a stream that comes in pieces, and copies only those that are in more than one. */
export class FrameSplitter {
  readonly #maxBytes: number
  readonly #queue = new ByteQueue()

  /** Throws for a frame with more bytes than that. */
  constructor({ maxBytes }: { maxBytes: number }) {
    this.#maxBytes = maxBytes
  }

  /** Whether the stream may end here. */
  get isBetween(): boolean {
    return this.#queue.length === 0
  }

  split(chunk: Buffer): Frame[] {
    const queue = this.#queue
    queue.push(chunk)
    const frames: Frame[] = []
    while (queue.length >= FRAME_HEAD_BYTES) {
      const head = queue.peek(FRAME_HEAD_BYTES)
      const length = head.readUInt32BE(1)
      if (length > this.#maxBytes) throw new Error(`A frame of ${length} bytes is too long`)
      if (queue.length < FRAME_HEAD_BYTES + length) break
      const frame = queue.take(FRAME_HEAD_BYTES + length)
      frames.push({ kind: frame[0]!, payload: frame.subarray(FRAME_HEAD_BYTES) })
    }
    return frames
  }
}
