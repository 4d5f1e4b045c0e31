/** A rate limit: a burst, then a number per second. */
export class Budget {
  readonly #most: number
  readonly #perSecond: number
  #left: number
  #at = performance.now()

  constructor({ most, perSecond }: { most: number; perSecond: number }) {
    this.#most = most
    this.#perSecond = perSecond
    this.#left = most
  }

  /** False when the budget is used up. */
  take(): boolean {
    if (this.#left < 1) {
      const now = performance.now()
      this.#left = Math.min(this.#most, this.#left + ((now - this.#at) / 1000) * this.#perSecond)
      this.#at = now
      if (this.#left < 1) return false
    } else if (this.#left === this.#most) this.#at = performance.now()
    this.#left--
    return true
  }
}
