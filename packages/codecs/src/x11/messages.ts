// Reads what a display sends: the answer to the connection setup, then replies, errors and events, each with a head of
// 32 bytes. https://www.x.org/releases/current/doc/xproto/x11protocol.html

const ERROR = 0
const REPLY = 1
const GENERIC_EVENT = 35
/** Set on events that a client sent. */
const SENT = 0x80
const SETUP_HEAD_BYTES = 8
const HEAD_BYTES = 32
const BUFFER_BYTES = 64 * 1024
/** Enough for a picture of 7680x4320 pixels. */
const MAX_MESSAGE_BYTES = 160 * 1024 * 1024

export interface XMessageEvents {
  /** The first one is the answer to the setup. */
  readonly onMessage: (message: Buffer) => void
  /** Memory for a message of that length, if the caller has some. */
  readonly roomFor: (length: number) => Buffer | undefined
}

/**
 * Splits the stream into messages. The socket writes directly into the reader's memory, because a picture of the screen
 * has tens of megabytes and should not be copied.
 */
export class XMessageReader {
  readonly #events: XMessageEvents
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #start = 0
  #end = 0
  /** A message that is too long for the buffer is read directly into its own. */
  #large: Buffer | undefined
  #largeEnd = 0
  #isSetUp = false

  constructor(events: XMessageEvents) {
    this.#events = events
  }

  /** Where the caller must write the next bytes. */
  room(): Buffer {
    if (this.#large) return this.#large.subarray(this.#largeEnd)
    return this.#buffer.subarray(this.#end)
  }

  /** Call it after writing that many bytes. Returns false if a message is too long; nothing can be read after that. */
  take(length: number): boolean {
    if (this.#large) {
      this.#largeEnd += length
      if (this.#largeEnd < this.#large.length) return true
      const message = this.#large
      this.#large = undefined
      this.#give(message)
      return true
    }
    this.#end += length
    while (this.#start < this.#end) {
      const available = this.#end - this.#start
      const next = this.#nextLength(available)
      if (next > MAX_MESSAGE_BYTES) return false
      if (available < next) {
        this.#makeRoom(next)
        return true
      }
      // Copied, because the buffer is reused.
      const message = Buffer.from(this.#buffer.subarray(this.#start, this.#start + next))
      this.#start += next
      if (this.#start === this.#end) this.#start = this.#end = 0
      this.#give(message)
    }
    return true
  }

  #give(message: Buffer): void {
    this.#isSetUp = true
    this.#events.onMessage(message)
  }

  /** Makes room for the rest of an incomplete message. */
  #makeRoom(length: number): void {
    const available = this.#end - this.#start
    if (length > BUFFER_BYTES) {
      this.#large = this.#events.roomFor(length) ?? Buffer.allocUnsafeSlow(length)
      this.#buffer.copy(this.#large, 0, this.#start, this.#end)
      this.#largeEnd = available
      this.#start = this.#end = 0
    } else if (this.#start + length > BUFFER_BYTES) {
      this.#buffer.copyWithin(0, this.#start, this.#end)
      this.#end = available
      this.#start = 0
    }
  }

  #nextLength(available: number): number {
    const { [this.#start]: kind } = this.#buffer
    if (!this.#isSetUp) {
      if (available < SETUP_HEAD_BYTES) return SETUP_HEAD_BYTES
      return SETUP_HEAD_BYTES + this.#buffer.readUInt16LE(this.#start + 6) * 4
    }
    if (available < HEAD_BYTES || (kind !== REPLY && (kind! & ~SENT) !== GENERIC_EVENT)) return HEAD_BYTES
    return HEAD_BYTES + this.#buffer.readUInt32LE(this.#start + 4) * 4
  }
}

export type XMessage =
  | { readonly kind: 'reply'; readonly sequence: number }
  | {
      readonly kind: 'error'
      readonly sequence: number
      readonly code: number
      readonly major: number
      readonly minor: number
    }
  /** `isSent`: a client sent the event. `code` does not contain that mark. */
  | { readonly kind: 'event'; readonly code: number; readonly isSent: boolean }

/** Reads the head of any message except the answer to the setup. */
export function readXMessage(message: Buffer): XMessage {
  const kind = message[0]!
  if (kind === REPLY) return { kind: 'reply', sequence: message.readUInt16LE(2) }
  if (kind !== ERROR) return { kind: 'event', code: kind & ~SENT, isSent: (kind & SENT) !== 0 }
  return {
    kind: 'error',
    sequence: message.readUInt16LE(2),
    code: message[1]!,
    minor: message.readUInt16LE(8),
    major: message[10]!,
  }
}
