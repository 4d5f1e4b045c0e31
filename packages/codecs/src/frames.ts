// A stream of bytes cut into frames: one byte that says of what kind it is, four for its length, and so
// many bytes. For what is too much to be made text of and back again.
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
  readonly #mostBytes: number
  #pieces: Buffer[] = []
  #length = 0
  /** How much makes the next step possible: a head, or a whole frame. */
  #needed = FRAME_HEAD_BYTES

  /** Throws for a frame with more bytes than that. */
  constructor({ mostBytes }: { mostBytes: number }) {
    this.#mostBytes = mostBytes
  }

  /** Whether the stream may end here. */
  get isBetween(): boolean {
    return this.#length === 0
  }

  split(chunk: Buffer): Frame[] {
    this.#pieces.push(chunk)
    this.#length += chunk.length
    if (this.#length < this.#needed) return []
    let bytes: Buffer = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces)
    const frames: Frame[] = []
    for (;;) {
      this.#needed = FRAME_HEAD_BYTES
      if (bytes.length < this.#needed) break
      const length = bytes.readUInt32BE(1)
      if (length > this.#mostBytes) throw new Error(`A frame of ${length} bytes is too long`)
      this.#needed += length
      if (bytes.length < this.#needed) break
      frames.push({ kind: bytes[0]!, payload: bytes.subarray(FRAME_HEAD_BYTES, this.#needed) })
      bytes = bytes.subarray(this.#needed)
    }
    this.#pieces = bytes.length === 0 ? [] : [bytes]
    this.#length = bytes.length
    return frames
  }
}
