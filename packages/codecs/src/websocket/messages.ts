// Reads complete messages of a server, for a client that needs nothing else.
import { FrameReader, opcodes } from './frames.ts'

export interface Message {
  /** Text or binary for data; otherwise the opcode of a control frame. */
  readonly opcode: number
  readonly payload: Buffer
}

/** The bytes are not websocket frames, or a message is too long. */
export class MessageError extends Error {}

export class MessageReader {
  readonly #frames = new FrameReader({ isMasked: false })
  readonly #maxBytes: number
  // Joined only when the message is complete; otherwise every new piece would copy all before it.
  #data: Buffer[] = []
  #dataBytes = 0
  #dataOpcode: number = opcodes.text
  #control: Buffer[] = []

  /** Limit for one message. */
  constructor({ maxBytes }: { maxBytes: number }) {
    this.#maxBytes = maxBytes
  }

  /** Throws a MessageError if the stream cannot be read further. */
  *take(chunk: Buffer): Generator<Message, void> {
    const frames = this.#frames
    for (let at = 0; at < chunk.length;) {
      at = frames.next(chunk, at)
      if (frames.isBeginning) return
      // A length that no number holds is only too long, like one that has not arrived to its end.
      if (frames.isBroken && frames.broken !== 'length') {
        throw new MessageError('Cannot read the websocket: not a frame of a server')
      }
      if (frames.payloadLength > this.#maxBytes)
        throw new MessageError('Cannot read the websocket: a frame is too long')
      const message = this.#add(chunk.subarray(frames.payloadStart, at))
      if (message) yield message
    }
  }

  #add(payload: Buffer): Message | undefined {
    const { opcode, isBetween, isFinal } = this.#frames
    if (opcode >= opcodes.close) {
      if (payload.length > 0) this.#control.push(payload)
      if (!isBetween) return undefined
      const whole = joined(this.#control)
      this.#control = []
      return { opcode, payload: whole }
    }
    if (opcode !== opcodes.continuation) this.#dataOpcode = opcode
    if (payload.length > 0) this.#data.push(payload)
    this.#dataBytes += payload.length
    if (this.#dataBytes > this.#maxBytes)
      throw new MessageError('Cannot read the websocket: a message is too long')
    if (!isBetween || !isFinal) return undefined
    const whole = joined(this.#data)
    this.#data = []
    this.#dataBytes = 0
    return { opcode: this.#dataOpcode, payload: whole }
  }
}

const joined = (pieces: readonly Buffer[]) => (pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
