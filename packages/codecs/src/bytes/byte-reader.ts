/** Reads a given number of bytes from a stream, whatever pieces they arrive in. Holds one piece at a time. */
export class ByteReader {
  readonly #iterator: AsyncIterator<Uint8Array>
  readonly #cutOff: () => Error
  #piece: Buffer = Buffer.alloc(0)

  /** `cutOff` makes the error for a stream that ends too early. */
  constructor(source: AsyncIterable<Uint8Array>, { cutOff }: { cutOff: () => Error }) {
    this.#iterator = source[Symbol.asyncIterator]()
    this.#cutOff = cutOff
  }

  /** Reads exactly that many bytes into memory, so the caller must limit the number. */
  async read(count: number): Promise<Buffer> {
    const bytes = await this.readUnlessEnded(count)
    if (!bytes) throw this.#cutOff()
    return bytes
  }

  /** Like read(), but returns undefined if the stream has ended before the first byte. */
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

  /** Reads what is there, at most that many bytes; undefined at the end. */
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

  /** Reads to the end and drops everything. */
  async drain(): Promise<void> {
    while (await this.readSome(Infinity));
  }

  /** Stops reading, even if something is left. */
  async close(): Promise<void> {
    await this.#iterator.return?.()
  }
}
