// Looks at JSON text as it arrives, without making anything of it: whether it could be one JSON value, how deep it is,
// and of how many values. What parsing costs depends on the number of values far more than on the bytes.
import { BadInput } from '@berth/kit/bad-input'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENING = { list: 0x5b, object: 0x7b }
const CLOSING = { list: 0x5d, object: 0x7d }
const SPACE = 0x20
const SHORT_BYTES = 32

export interface OutlineLimits {
  readonly maxDepth: number
  readonly maxValues: number
}

/** Takes the pieces of a list or an object; throws BadInput as soon as it is clear that it is none, or too large. */
export class JsonOutline {
  readonly #limits: OutlineLimits
  #depth = 0
  #values = 0
  #isInString = false
  #isEscaped = false
  #isOver = false

  constructor(limits: OutlineLimits) {
    this.#limits = limits
  }

  take(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at++) {
      if (this.#isInString) {
        at = this.#skipString(piece, at)
        continue
      }
      const byte = piece[at]!
      if (this.#depth === 0) this.#begin(byte)
      else if (byte === QUOTE) this.#isInString = true
      else if (byte === COMMA) this.#count()
      else if (byte === OPENING.list || byte === OPENING.object) this.#open()
      else if ((byte === CLOSING.list || byte === CLOSING.object) && --this.#depth === 0) this.#isOver = true
    }
  }

  end(): void {
    if (!this.#isOver) throw refused('it is cut off')
  }

  #begin(byte: number): void {
    if (byte <= SPACE) return
    if (this.#isOver) throw refused('there is data after its end')
    if (byte !== OPENING.list && byte !== OPENING.object) throw refused('it is neither a list nor an object')
    this.#open()
  }

  #open(): void {
    if (++this.#depth > this.#limits.maxDepth) throw refused(`it nests deeper than ${this.#limits.maxDepth}`)
    this.#count()
  }

  #count(): void {
    if (++this.#values > this.#limits.maxValues) {
      throw refused(`it has more than ${this.#limits.maxValues} values`)
    }
  }

  /** The position of the last byte of the string in this piece. Searches natively: most bytes are in strings. */
  #skipString(piece: Uint8Array, from: number): number {
    let start = from
    if (this.#isEscaped) {
      this.#isEscaped = false
      start++
    }
    // Calling it costs more than a short string.
    const near = Math.min(piece.length, start + SHORT_BYTES)
    for (let at = start; at < near && piece[at] !== BACKSLASH; at++) {
      if (piece[at] !== QUOTE) continue
      this.#isInString = false
      return at
    }
    for (;;) {
      const quote = piece.indexOf(QUOTE, start)
      const end = quote === -1 ? piece.length : quote
      let backslashes = 0
      while (end - backslashes > start && piece[end - backslashes - 1] === BACKSLASH) backslashes++
      const isEscaped = backslashes % 2 === 1
      if (quote === -1) {
        this.#isEscaped = isEscaped
        return piece.length
      }
      if (!isEscaped) {
        this.#isInString = false
        return quote
      }
      start = quote + 1
    }
  }
}

function refused(reason: string): BadInput {
  return new BadInput(`Cannot read the JSON: ${reason}`)
}
