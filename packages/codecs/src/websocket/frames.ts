// Reads and writes websocket frames (RFC 6455, section 5). FrameReader only follows where frames begin and end;
// client-frames.ts and messages.ts use it to get their content.

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

const MAX_CONTROL_PAYLOAD_BYTES = 125
const MASK_BYTES = 4
const MAX_HEAD_BYTES = 14
const FIN = 0x80
const MASKED = 0x80
const RESERVED = 0x70

type Phase = 'between' | 'short-length' | 'long-length' | 'mask' | 'payload'

/** mask: missing, or not allowed. control: a control frame is too long or fragmented. length: too large a number. */
export type Broken = 'mask' | 'control' | 'length'

/** Follows the frames of one direction, whatever chunks they arrive in. */
export class FrameReader {
  readonly #isMasked: boolean
  /** The first byte of the mask is the highest. */
  #mask = 0
  #phase: Phase = 'between'
  #first = 0
  /** Bytes left of the length or of the mask. */
  #headBytesLeft = 0
  #left = 0
  #length = 0
  #payloadStart = 0
  /** Number of complete messages so far. */
  messages = 0
  /** Set when the bytes are not websocket frames; nothing can be read after that. */
  broken: Broken | undefined

  /** Clients mask their frames, servers do not. */
  constructor({ isMasked }: { isMasked: boolean }) {
    this.#isMasked = isMasked
  }

  get isBroken(): boolean {
    return this.broken !== undefined
  }

  /** Whether a frame has just ended, so that another may be inserted here. */
  get isBetween(): boolean {
    return this.#phase === 'between'
  }

  /** Whether the second byte of the frame is missing; nothing is known about the frame before that. */
  get isBeginning(): boolean {
    return this.#phase === 'short-length'
  }

  /** Opcode of the current frame or, between frames, of the last one. The getters below are about the same frame. */
  get opcode(): number {
    return this.#first & 0x0f
  }

  get isFinal(): boolean {
    return this.#first >= FIN
  }

  /** Whether bits are set that only extensions use. */
  get hasReservedBits(): boolean {
    return (this.#first & RESERVED) !== 0
  }

  /** Length of the whole payload, as far as it was read. */
  get payloadLength(): number {
    return this.#length
  }

  /** Offset in the chunk of the payload that the last call of `next` passed. */
  get payloadStart(): number {
    return this.#payloadStart
  }

  /** Returns the end of the frame that continues or begins at `start`, or the end of the chunk. */
  next(chunk: Buffer, start: number): number {
    if (this.#phase === 'between' && chunk.length - start >= MAX_HEAD_BYTES) {
      return this.#passPayload(chunk, this.#readHead(chunk, start))
    }
    let at = start
    while (this.#phase !== 'payload') {
      this.#payloadStart = at
      if (at === chunk.length) return at
      this.#readHeadByte(chunk[at++]!)
    }
    return this.#passPayload(chunk, at)
  }

  /** Unmasks the payload that the last call of `next` passed, in place. */
  unmask(payload: Buffer): void {
    xor(payload, this.#mask, this.#length - this.#left - payload.length)
  }

  #passPayload(chunk: Buffer, at: number): number {
    const taken = Math.min(this.#left, chunk.length - at)
    this.#payloadStart = at
    this.#left -= taken
    if (this.#left === 0) {
      this.#phase = 'between'
      if (this.#first >= FIN && this.opcode < opcodes.close) this.messages++
    }
    return at + taken
  }

  /** Reads a head that is complete, as nearly all are; several times as fast as byte by byte. */
  #readHead(chunk: Buffer, start: number): number {
    let at = start + 2
    this.#first = chunk[start]!
    this.#checkStart(chunk[start + 1]!)
    let length = chunk[start + 1]! & 0x7f
    if (length === 126) {
      length = (chunk[at]! << 8) | chunk[at + 1]!
      at += 2
    } else if (length === 127) {
      length = chunk.readUInt32BE(at) * 2 ** 32 + chunk.readUInt32BE(at + 4)
      at += 8
    }
    this.#begin(length)
    if (!this.#isMasked) return at
    this.#mask = (chunk[at]! << 24) | (chunk[at + 1]! << 16) | (chunk[at + 2]! << 8) | chunk[at + 3]!
    return at + MASK_BYTES
  }

  #readHeadByte(byte: number): void {
    switch (this.#phase) {
      case 'between':
        this.#first = byte
        this.#phase = 'short-length'
        return
      case 'short-length': {
        this.#checkStart(byte)
        const short = byte & 0x7f
        this.#headBytesLeft = short === 126 ? 2 : short === 127 ? 8 : 0
        this.#length = this.#headBytesLeft === 0 ? short : 0
        break
      }
      case 'long-length':
        this.#length = this.#length * 256 + byte
        this.#headBytesLeft--
        break
      default:
        this.#mask = (this.#mask << 8) | byte
        this.#headBytesLeft--
    }
    if (this.#headBytesLeft > 0) {
      if (this.#phase === 'short-length') this.#phase = 'long-length'
    } else if (this.#isMasked && this.#phase !== 'mask') {
      this.#headBytesLeft = MASK_BYTES
      this.#phase = 'mask'
    } else this.#begin(this.#length)
  }

  #checkStart(second: number): void {
    if (second >= MASKED !== this.#isMasked) this.broken ??= 'mask'
    if (this.opcode < opcodes.close) return
    if ((second & 0x7f) > MAX_CONTROL_PAYLOAD_BYTES || this.#first < FIN) this.broken ??= 'control'
  }

  #begin(length: number): void {
    if (length > Number.MAX_SAFE_INTEGER - MASK_BYTES) this.broken ??= 'length'
    this.#length = this.#left = length
    this.#phase = 'payload'
  }
}

/** `from` is the number of payload bytes before these. */
function xor(payload: Buffer, mask: number, from: number): void {
  const bytes = [mask >>> 24, (mask >>> 16) & 0xff, (mask >>> 8) & 0xff, mask & 0xff]
  for (let index = 0; index < payload.length; index++) payload[index]! ^= bytes[(from + index) & 3]!
}

/**
 * The head of a frame with a payload of that many bytes. With `isMasked` the mask is all zeros, so the payload stays as
 * it is: masks protect proxies from bytes that pages choose, and where we are the client there is neither.
 */
export function frameHead(
  opcode: number,
  length: number,
  { isMasked = false }: { isMasked?: boolean } = {},
): Buffer {
  const lengthBytes = length <= MAX_CONTROL_PAYLOAD_BYTES ? 0 : length < 0x10000 ? 2 : 8
  const head = Buffer.alloc(2 + lengthBytes + (isMasked ? MASK_BYTES : 0))
  head[0] = FIN | opcode
  head[1] = (isMasked ? MASKED : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127)
  if (lengthBytes === 2) head.writeUInt16BE(length, 2)
  if (lengthBytes === 8) head.writeBigUInt64BE(BigInt(length), 2)
  return head
}

export const pingFrame = frameHead(opcodes.ping, 0)

export function closeFrame(code: number, reason: string): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason))
  payload.writeUInt16BE(code)
  payload.write(reason, 2)
  return Buffer.concat([frameHead(opcodes.close, payload.length), payload])
}

/** The answer to a client's ping. */
export function pongTo(ping: Buffer): Buffer {
  const payload = Buffer.from(ping.subarray(2 + MASK_BYTES))
  xor(payload, ping.readInt32BE(2), 0)
  return pongFrame(payload)
}

export function pongFrame(payload: Buffer): Buffer {
  return Buffer.concat([frameHead(opcodes.pong, payload.length), payload])
}
