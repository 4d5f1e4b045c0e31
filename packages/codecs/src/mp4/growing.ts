// Numbers of 32 bits that are added one by one. There may be millions, so they are in a typed array.

const FIRST_ROOM = 1024

export class Growing {
  #values = new Uint32Array(FIRST_ROOM)
  #count = 0

  get count(): number {
    return this.#count
  }

  get last(): number {
    return this.#values[this.#count - 1]!
  }

  add(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Uint32Array(this.#values.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#count++] = value
  }

  /** Adds to the last value. */
  increase(by = 1): void {
    this.#values[this.#count - 1]! += by
  }

  all(): Uint32Array {
    return this.#values.subarray(0, this.#count)
  }
}
