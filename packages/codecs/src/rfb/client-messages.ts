// Splits what a client of the remote framebuffer protocol sends into messages, without interpreting them. RFC 6143, and
// its extensions: https://github.com/rfbproto/rfbproto/blob/master/rfbproto.rst
import { ByteQueue } from '../bytes/byte-queue.ts'

export const RFB_VERSION = 'RFB 003.008\n'

/** Message types, including those of extensions. */
export const rfbMessages = {
  setPixelFormat: 0,
  setEncodings: 2,
  updateRequest: 3,
  key: 4,
  pointer: 5,
  cutText: 6,
  continuousUpdates: 150,
  fence: 248,
  power: 250,
  setDesktopSize: 251,
  qemu: 255,
} as const

/** The handshake before the messages: version, kind of security, and whether the screen is shared. */
const OPENING_BYTES = [RFB_VERSION.length, 1, 1] as const
/** So many bytes at most tell the length of a message. */
const MAX_HEAD_BYTES = 9
const MAX_ENCODINGS = 256
export const MAX_CUT_TEXT_BYTES = 1024 * 1024

const fixedBytes: Readonly<Record<number, number>> = {
  [rfbMessages.setPixelFormat]: 20,
  [rfbMessages.updateRequest]: 10,
  [rfbMessages.key]: 8,
  [rfbMessages.pointer]: 6,
  [rfbMessages.continuousUpdates]: 10,
  [rfbMessages.power]: 4,
}

/** Reads a setEncodings message. */
export function readEncodings(message: Buffer): number[] {
  const encodings: number[] = []
  for (let at = 4; at < message.length; at += 4) encodings.push(message.readInt32BE(at))
  return encodings
}

export function setEncodings(encodings: readonly number[]): Buffer {
  const message = Buffer.alloc(4 + encodings.length * 4)
  message[0] = rfbMessages.setEncodings
  message.writeUInt16BE(encodings.length, 2)
  for (const [index, encoding] of encodings.entries()) message.writeInt32BE(encoding, 4 + index * 4)
  return message
}

/** The bytes are not RFB, or a message is too long. */
export class RfbError extends Error {}

export class RfbClientMessages {
  #opened = 0
  readonly #queue = new ByteQueue()

  /** How many of the three handshake steps split() has returned so far. */
  get openingSteps(): number {
    return this.#opened
  }

  /** Returns complete messages only. The handshake steps come first, each like a message. */
  split(chunk: Buffer): Buffer[] {
    const queue = this.#queue
    queue.push(chunk)
    const messages: Buffer[] = []
    for (;;) {
      const length = this.#nextLength()
      if (queue.length < length) break
      messages.push(queue.take(length))
      if (this.#opened < OPENING_BYTES.length) this.#opened++
    }
    queue.compact()
    return messages
  }

  /** Length of the next message or, if it is not known yet, how many bytes tell it. */
  #nextLength(): number {
    const opening = OPENING_BYTES[this.#opened]
    if (opening !== undefined) return opening
    const { length } = this.#queue
    return length === 0 ? 1 : lengthOf(this.#queue.peek(Math.min(length, MAX_HEAD_BYTES)))
  }
}

/** Length of the message that begins here or, if it is not known yet, how many bytes tell it. */
function lengthOf(bytes: Buffer): number {
  const type = bytes[0]!
  const fixed = fixedBytes[type]
  if (fixed !== undefined) return fixed
  switch (type) {
    case rfbMessages.setEncodings: {
      const head = 4
      if (bytes.length < head) return head
      const count = bytes.readUInt16BE(2)
      if (count > MAX_ENCODINGS) throw new RfbError(`${count} encodings are too many`)
      return head + count * 4
    }
    case rfbMessages.cutText: {
      const head = 8
      if (bytes.length < head) return head
      // Negative in the extended form, which allows more than Latin 1.
      const length = Math.abs(bytes.readInt32BE(4))
      if (length > MAX_CUT_TEXT_BYTES) throw new RfbError(`a clipboard of ${length} bytes is too long`)
      return head + length
    }
    case rfbMessages.fence: {
      const head = 9
      return bytes.length < head ? head : head + bytes[8]!
    }
    case rfbMessages.setDesktopSize: {
      const head = 8
      return bytes.length < head ? head : head + bytes[6]! * 16
    }
    case rfbMessages.qemu: {
      if (bytes.length < 2) return 2
      const isKey = bytes[1] === 0
      if (isKey) return 12
      // Sound: on or off. What changes its format is longer, and unknown here.
      const isSound = bytes[1] === 1
      if (isSound && bytes.length < 4) return 4
      if (isSound && bytes.readUInt16BE(2) <= 1) return 4
      throw new RfbError(`message ${type}.${bytes[1]} is unknown`)
    }
    default:
      throw new RfbError(`message ${type} is unknown`)
  }
}
