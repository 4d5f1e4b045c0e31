/**
 * Bytes that arrive in pieces and are taken by length. Copies only what spans several pieces.
 */
export class ByteQueue {
  #pieces: Buffer[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  push(piece: Buffer): void {
    if (piece.length === 0) return
    this.#pieces.push(piece)
    this.#length += piece.length
  }

  /** Returns the first bytes without removing them. Throws if there are not enough. */
  peek(count: number): Buffer {
    if (count > this.#length) throw new RangeError(`Cannot read ${count} bytes: there are ${this.#length}`)
    if (count > 0 && this.#pieces[0]!.length < count) this.#join(count)
    return this.#pieces[0]?.subarray(0, count) ?? EMPTY
  }

  /** Removes and returns the first bytes. Throws if there are not enough. */
  take(count: number): Buffer {
    const bytes = this.peek(count)
    if (count > 0) this.#drop(count)
    return bytes
  }

  /** Removes up to `count` bytes; returns how many it removed. */
  skip(count: number): number {
    const skipped = Math.min(count, this.#length)
    for (let left = skipped; left > 0;) {
      const part = Math.min(left, this.#pieces[0]!.length)
      this.#drop(part)
      left -= part
    }
    return skipped
  }

  /**
   * Copies the rest of a piece, so that it does not keep the whole piece in memory. Call it after taking as much as
   * possible; then at most one piece is left.
   */
  compact(): void {
    if (this.#pieces.length === 1) this.#pieces[0] = Buffer.from(this.#pieces[0]!)
  }

  /** Joins pieces until the first one has `count` bytes. */
  #join(count: number): void {
    let used = 0
    let length = 0
    while (length < count) length += this.#pieces[used++]!.length
    const last = this.#pieces[used - 1]!
    const rest = length - count
    const joined = Buffer.concat(this.#pieces.slice(0, used), count)
    this.#pieces.splice(0, used, joined, ...(rest > 0 ? [last.subarray(last.length - rest)] : []))
  }

  /** Removes bytes from the first piece, which has at least that many. */
  #drop(count: number): void {
    const first = this.#pieces[0]!
    if (first.length === count) this.#pieces.shift()
    else this.#pieces[0] = first.subarray(count)
    this.#length -= count
  }
}

const EMPTY = Buffer.alloc(0)
