// Frames in a stream of bytes: one byte for the kind, four for the length, then the payload. Used where the data is too
// large to be converted to text and back.
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

/** Finds the frames in a stream of chunks. Copies a frame only if it spans several chunks. */
export class FrameSplitter {
  readonly #maxBytes: number
  readonly #queue = new ByteQueue()

  /** Throws for a frame longer than `maxBytes`. */
  constructor({ maxBytes }: { maxBytes: number }) {
    this.#maxBytes = maxBytes
  }

  /** Whether the stream can end here without cutting a frame. */
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
