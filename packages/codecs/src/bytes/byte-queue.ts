/**
 * Bytes that come in pieces and are taken by length. Nothing is copied but what is asked for across the border of two
 * pieces.
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

  /** The first bytes, which stay in the queue. There must be as many. */
  peek(count: number): Buffer {
    if (count > this.#length) throw new RangeError(`Cannot read ${count} bytes: there are ${this.#length}`)
    if (count > 0 && this.#pieces[0]!.length < count) this.#join(count)
    return this.#pieces[0]?.subarray(0, count) ?? EMPTY
  }

  /** The first bytes. There must be as many. */
  take(count: number): Buffer {
    const bytes = this.peek(count)
    if (count > 0) this.#drop(count)
    return bytes
  }

  /** As many of the first bytes as there are, up to `count`; returns how many. */
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
   * Copies what is left of a piece, so that it does not keep the rest of it in memory. To be called whenever as much
   * as possible was taken: further pieces are then whole.
   */
  compact(): void {
    if (this.#pieces.length === 1) this.#pieces[0] = Buffer.from(this.#pieces[0]!)
  }

  /** Makes the first piece that long. */
  #join(count: number): void {
    let used = 0
    let length = 0
    while (length < count) length += this.#pieces[used++]!.length
    const last = this.#pieces[used - 1]!
    const rest = length - count
    const joined = Buffer.concat(this.#pieces.slice(0, used), count)
    this.#pieces.splice(0, used, joined, ...(rest > 0 ? [last.subarray(last.length - rest)] : []))
  }

  /** Of the first piece, which has as many. */
  #drop(count: number): void {
    const first = this.#pieces[0]!
    if (first.length === count) this.#pieces.shift()
    else this.#pieces[0] = first.subarray(count)
    this.#length -= count
  }
}

const EMPTY = Buffer.alloc(0)
