// Splits bytes into lines. A line that is too long is cut, with a note.
import { MAX_LOG_LINE_LENGTH } from '@berth/contracts/logs'

const NEWLINE = 0x0a
const RETURN = 0x0d

export class LineCutter {
  #pieces: Buffer[] = []
  #length = 0
  #cut = 0

  /** Returns the lines that are complete now. */
  take(chunk: Buffer): string[] {
    const lines: string[] = []
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end))
      lines.push(this.#finish())
      from = end + 1
    }
    this.#keep(chunk.subarray(from))
    return lines
  }

  /** Returns the incomplete last line, at the end of the input. */
  rest(): string[] {
    return this.#length + this.#cut > 0 ? [this.#finish()] : []
  }

  #keep(part: Buffer): void {
    const kept = part.subarray(0, MAX_LOG_LINE_LENGTH - this.#length)
    // A copy: a short line must not keep the large block it was read in.
    if (kept.length > 0) this.#pieces.push(Buffer.from(kept))
    this.#length += kept.length
    this.#cut += part.length - kept.length
  }

  #finish(): string {
    const line = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
    const mark = this.#cut > 0 ? ` [berth: ${this.#cut} more bytes of this line are left out]` : ''
    const hasReturn = this.#cut === 0 && line.at(-1) === RETURN
    this.#pieces = []
    this.#length = 0
    this.#cut = 0
    return line.toString('utf8', 0, hasReturn ? line.length - 1 : line.length) + mark
  }
}
