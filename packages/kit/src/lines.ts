const NEWLINE = 0x0a

/** Finds the lines in bytes that come in pieces. Throws for a line that is too long. */
export class LineSplitter {
  readonly #maxBytes: number
  #pieces: Buffer[] = []
  #length = 0

  constructor({ maxBytes }: { maxBytes: number }) {
    this.#maxBytes = maxBytes
  }

  /** The lines that are whole now, without their ends. What follows the last one waits for the next piece. */
  split(piece: Buffer): Buffer[] {
    const lines: Buffer[] = []
    let from = 0
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
      const last = piece.subarray(from, end)
      lines.push(this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last]))
      this.#pieces = []
      this.#length = 0
      from = end + 1
    }
    const rest = piece.subarray(from)
    this.#length += rest.length
    if (this.#length > this.#maxBytes) throw new Error(`A line is longer than ${this.#maxBytes} bytes`)
    if (rest.length > 0) this.#pieces.push(rest)
    return lines
  }
}
