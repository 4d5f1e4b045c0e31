// The websocket frames of a client (RFC 6455, section 5), unmasked. Data is given out as it comes, whatever
// frames it is in: to us it is one stream of bytes. Control frames are given out whole.
import { opcodes } from './frames.ts'

const CONTINUATION = 0
const TEXT = 1
const BINARY = 2
const FIN = 0x80
const RESERVED = 0x70
const MASKED = 0x80
const MASK_BYTES = 4
const LONGEST_CONTROL = 125
const SHORTEST_HEAD = 2
const LONGEST_HEAD = 14

export interface Piece {
  readonly opcode: number
  readonly bytes: Buffer
}

/** Nothing further can be told of what comes; the code is what to close with. */
export class FrameError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export class ClientFrames {
  readonly #head = Buffer.alloc(LONGEST_HEAD)
  #headLength = 0
  #headNeeded = SHORTEST_HEAD
  #isInPayload = false
  #left = 0
  #at = 0
  #control: Buffer[] = []

  /** Changes the chunk: payloads are unmasked where they are. */
  take(chunk: Buffer): Piece[] {
    const pieces: Piece[] = []
    let at = 0
    while (at < chunk.length) {
      if (!this.#isInPayload) {
        this.#head[this.#headLength++] = chunk[at++]!
        if (this.#headLength === this.#headNeeded) this.#readHead()
        if (!this.#isInPayload || this.#left > 0) continue
      }
      const bytes = chunk.subarray(at, at + this.#left)
      at += bytes.length
      this.#unmask(bytes)
      this.#give(bytes, pieces)
    }
    return pieces
  }

  get #opcode(): number {
    return this.#head[0]! & 0x0f
  }

  #readHead(): void {
    const second = this.#head[1]!
    const short = second & 0x7f
    if (this.#headNeeded === SHORTEST_HEAD) {
      this.#checkStart(second, short)
      this.#headNeeded += MASK_BYTES + (short === 126 ? 2 : short === 127 ? 8 : 0)
      return
    }
    const long = short === 127 ? this.#head.readBigUInt64BE(2) : undefined
    if (long !== undefined && long > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw new FrameError(1009, 'a frame is too long')
    }
    this.#left = long !== undefined ? Number(long) : short === 126 ? this.#head.readUInt16BE(2) : short
    this.#at = 0
    this.#isInPayload = true
  }

  #checkStart(second: number, short: number): void {
    const first = this.#head[0]!
    const opcode = this.#opcode
    if (second < MASKED || (first & RESERVED) !== 0)
      throw new FrameError(1002, 'not a masked websocket frame')
    if (opcode === TEXT) throw new FrameError(1003, 'only binary messages are taken')
    const isControl = opcode >= opcodes.close
    const isData = opcode === CONTINUATION || opcode === BINARY
    const isKnown = isData || (isControl && opcode <= opcodes.pong)
    if (!isKnown || (isControl && (short > LONGEST_CONTROL || first < FIN))) {
      throw new FrameError(1002, 'not a websocket frame')
    }
  }

  #unmask(bytes: Buffer): void {
    const mask = this.#headNeeded - MASK_BYTES
    for (let index = 0; index < bytes.length; index++) {
      bytes[index]! ^= this.#head[mask + ((this.#at + index) & 3)]!
    }
    this.#at += bytes.length
    this.#left -= bytes.length
  }

  #give(bytes: Buffer, pieces: Piece[]): void {
    const opcode = this.#opcode
    if (opcode >= opcodes.close) this.#control.push(Buffer.from(bytes))
    else if (bytes.length > 0) pieces.push({ opcode: BINARY, bytes })
    if (this.#left > 0) return
    if (opcode >= opcodes.close) {
      pieces.push({ opcode, bytes: Buffer.concat(this.#control) })
      this.#control = []
    }
    this.#isInPayload = false
    this.#headLength = 0
    this.#headNeeded = SHORTEST_HEAD
  }
}

/** What goes before so many bytes of a binary message, from the server. */
export function binaryHead(length: number): Buffer {
  if (length <= LONGEST_CONTROL) return Buffer.from([FIN | BINARY, length])
  if (length < 0x10000) return Buffer.from([FIN | BINARY, 126, length >> 8, length & 0xff])
  const head = Buffer.alloc(10)
  head[0] = FIN | BINARY
  head[1] = 127
  head.writeUInt32BE(length, 6)
  return head
}
