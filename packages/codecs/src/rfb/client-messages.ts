// What a client of the remote framebuffer protocol says (RFC 6143 and the register of its extensions:
// https://github.com/rfbproto/rfbproto/blob/master/rfbproto.rst), cut into messages and not understood further.
import { ByteQueue } from '../bytes/byte-queue.ts'

export const RFB_VERSION = 'RFB 003.008\n'

/** Types of messages, those of extensions among them. */
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

/** What comes before messages: version, kind of security, and whether others may stay. */
const OPENING_BYTES = [RFB_VERSION.length, 1, 1] as const
/** Of those that tell how long a message is. */
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

/** What a message of that type asks for. */
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

/** Not RFB, or more of it than anybody needs. */
export class RfbError extends Error {}

export class RfbClientMessages {
  #opened = 0
  readonly #queue = new ByteQueue()

  /** How many of the three steps of the opening were given out, with what `split` gave last. */
  get openingSteps(): number {
    return this.#opened
  }

  /** Whole ones only. The steps of the opening come first, each as if it were a message. */
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

  /** Of the next message, or of as much of it as tells its length. */
  #nextLength(): number {
    const opening = OPENING_BYTES[this.#opened]
    if (opening !== undefined) return opening
    const { length } = this.#queue
    return length === 0 ? 1 : lengthOf(this.#queue.peek(Math.min(length, MAX_HEAD_BYTES)))
  }
}

/** Of the message that begins here, or of as much of it as tells its length. */
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
      // Less than nothing in the extended form, which has more than Latin 1.
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
      throw new RfbError(`message ${type}.${bytes[1]} is unknown`)
    }
    default:
      throw new RfbError(`message ${type} is unknown`)
  }
}
