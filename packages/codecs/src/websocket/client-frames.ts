// Reads a client's frames for a server that accepts only binary messages. Data is unmasked and passed on as it arrives,
// as one stream of bytes without frame boundaries. Control frames are passed on as a whole.
import { FrameReader, opcodes } from './frames.ts'

export interface Piece {
  readonly opcode: number
  readonly bytes: Buffer
}

/** The stream cannot be read further. `code` is the close code to send. */
export class FrameError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export class ClientFrames {
  readonly #frames = new FrameReader({ isMasked: true })
  #control: Buffer[] = []

  /** Changes the chunk: it unmasks payloads in place. */
  take(chunk: Buffer): Piece[] {
    const frames = this.#frames
    const pieces: Piece[] = []
    let at = 0
    while (at < chunk.length) {
      at = frames.next(chunk, at)
      if (frames.isBeginning) break
      check(frames)
      const bytes = chunk.subarray(frames.payloadStart, at)
      frames.unmask(bytes)
      this.#give(bytes, pieces)
    }
    return pieces
  }

  #give(bytes: Buffer, pieces: Piece[]): void {
    const { opcode, isBetween } = this.#frames
    if (opcode < opcodes.close) {
      if (bytes.length > 0) pieces.push({ opcode: opcodes.binary, bytes })
      return
    }
    this.#control.push(Buffer.from(bytes))
    if (!isBetween) return
    pieces.push({ opcode, bytes: Buffer.concat(this.#control) })
    this.#control = []
  }
}

function check({ broken, opcode, hasReservedBits }: FrameReader): void {
  if (broken === 'mask' || hasReservedBits) throw new FrameError(1002, 'not a masked websocket frame')
  if (opcode === opcodes.text) throw new FrameError(1003, 'only binary messages are taken')
  const isData = opcode === opcodes.continuation || opcode === opcodes.binary
  const isControl = opcode >= opcodes.close && opcode <= opcodes.pong
  if (broken === 'control' || (!isData && !isControl)) throw new FrameError(1002, 'not a websocket frame')
  if (broken === 'length') throw new FrameError(1009, 'a frame is too long')
}
