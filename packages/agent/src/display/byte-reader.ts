import type { Socket } from 'node:net'

/** Reads a socket in pieces of known length, for binary protocols that are asked and answered. */
export class ByteReader {
  #received: Buffer = Buffer.alloc(0)
  #wake: (() => void) | undefined
  #isOver = false

  constructor(socket: Socket) {
    const over = () => {
      this.#isOver = true
      this.#wake?.()
    }
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake?.()
    })
    socket.on('error', over)
    socket.once('close', over)
  }

  async read(length: number): Promise<Buffer> {
    while (this.#received.length < length) {
      if (this.#isOver) throw new Error('Cannot talk to the display: it hung up')
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    const bytes = this.#received.subarray(0, length)
    this.#received = this.#received.subarray(length)
    return bytes
  }
}
