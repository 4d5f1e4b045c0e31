/** Bytes of a stream asked for by their number, whatever pieces they come in. Holds one piece at a time. */
export class ByteReader {
  readonly #iterator: AsyncIterator<Uint8Array>
  readonly #cutOff: () => Error
  #piece: Buffer = Buffer.alloc(0)

  /** `cutOff`: what to throw when the stream ends before what was asked for. */
  constructor(source: AsyncIterable<Uint8Array>, { cutOff }: { cutOff: () => Error }) {
    this.#iterator = source[Symbol.asyncIterator]()
    this.#cutOff = cutOff
  }

  /** As many; they are held in memory together, so the caller bounds the number. */
  async read(count: number): Promise<Buffer> {
    const bytes = await this.readUnlessEnded(count)
    if (!bytes) throw this.#cutOff()
    return bytes
  }

  /** Undefined when the stream has ended before the first of them. */
  async readUnlessEnded(count: number): Promise<Buffer | undefined> {
    const pieces: Buffer[] = []
    for (let left = count; left > 0;) {
      const piece = await this.readSome(left)
      if (!piece) {
        if (pieces.length > 0) throw this.#cutOff()
        return undefined
      }
      pieces.push(piece)
      left -= piece.length
    }
    return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)
  }

  /** At most that many, as many as are there; undefined at the end. */
  async readSome(maxBytes: number): Promise<Buffer | undefined> {
    while (this.#piece.length === 0) {
      const { value, done } = await this.#iterator.next()
      if (done) return undefined
      this.#piece = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    }
    const piece = this.#piece.subarray(0, maxBytes)
    this.#piece = this.#piece.subarray(piece.length)
    return piece
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0;) {
      const piece = await this.readSome(left)
      if (!piece) throw this.#cutOff()
      left -= piece.length
    }
  }

  /** To the end. */
  async drain(): Promise<void> {
    while (await this.readSome(Infinity));
  }

  /** Lets go of the stream, whatever is left of it. */
  async close(): Promise<void> {
    await this.#iterator.return?.()
  }
}
