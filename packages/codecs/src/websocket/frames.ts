// Websocket frames (RFC 6455, section 5) as far as the gateway needs them: where one ends, so that
// something can be said in between, and the few control frames it says itself.

export const opcodes = { close: 8, ping: 9, pong: 10 } as const

const LONGEST_CONTROL_PAYLOAD = 125
const MASK_BYTES = 4
const FIN = 0x80
const MASKED = 0x80

type Phase = 'between' | 'short-length' | 'long-length' | 'payload'

/** Follows the frames of one direction over chunks that are cut anywhere. Looks at no payload. */
export class FrameReader {
  readonly #isMasked: boolean
  #phase: Phase = 'between'
  #first = 0
  #lengthBytesLeft = 0
  #left = 0
  /** Messages that have ended so far. */
  messages = 0
  /** Not websocket frames any more; nothing further can be told. */
  isBroken = false

  /** Frames of clients are masked, those of servers are not. */
  constructor({ isMasked }: { isMasked: boolean }) {
    this.#isMasked = isMasked
  }

  /** Whether another frame may be put here. */
  get isBetween(): boolean {
    return this.#phase === 'between'
  }

  /** Of the frame under way, or of the last one. */
  get opcode(): number {
    return this.#first & 0x0f
  }

  /** The end of the frame that is under way or begins at `start`, or the end of the chunk. */
  next(chunk: Buffer, start: number): number {
    const end = chunk.length
    let at = start
    if (this.#phase === 'between') {
      this.#first = chunk[at++]!
      this.#phase = 'short-length'
    }
    if (this.#phase === 'short-length') {
      if (at === end) return at
      this.#readShortLength(chunk[at++]!)
    }
    while (this.#phase === 'long-length') {
      if (at === end) return at
      this.#left = this.#left * 256 + chunk[at++]!
      if (--this.#lengthBytesLeft > 0) continue
      this.isBroken ||= this.#left > Number.MAX_SAFE_INTEGER - MASK_BYTES
      if (this.#isMasked) this.#left += MASK_BYTES
      this.#phase = 'payload'
    }
    const taken = Math.min(this.#left, end - at)
    this.#left -= taken
    if (this.#left === 0) {
      this.#phase = 'between'
      if (this.#first >= FIN && this.opcode < opcodes.close) this.messages++
    }
    return at + taken
  }

  #readShortLength(second: number): void {
    const length = second & 0x7f
    const isControl = this.opcode >= opcodes.close
    this.isBroken ||=
      second >= MASKED !== this.#isMasked ||
      (isControl && (length > LONGEST_CONTROL_PAYLOAD || this.#first < FIN))
    if (length > LONGEST_CONTROL_PAYLOAD) {
      this.#lengthBytesLeft = length === 126 ? 2 : 8
      this.#left = 0
      this.#phase = 'long-length'
      return
    }
    this.#left = this.#isMasked ? length + MASK_BYTES : length
    this.#phase = 'payload'
  }
}

export const pingFrame = Buffer.from([FIN | opcodes.ping, 0])

export function closeFrame(code: number, reason: string): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason))
  payload.writeUInt16BE(code)
  payload.write(reason, 2)
  return controlFrame(opcodes.close, payload)
}

/** What answers a whole ping of a client. */
export function pongTo(ping: Buffer): Buffer {
  const mask = ping.subarray(2, 2 + MASK_BYTES)
  const payload = Buffer.from(ping.subarray(2 + MASK_BYTES))
  for (let index = 0; index < payload.length; index++) payload[index]! ^= mask[index % MASK_BYTES]!
  return pongFrame(payload)
}

export function pongFrame(payload: Buffer): Buffer {
  return controlFrame(opcodes.pong, payload)
}

function controlFrame(opcode: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([FIN | opcode, payload.length]), payload])
}
