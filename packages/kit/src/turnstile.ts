// Lets only so many in at once; the others wait in the order they came.

export class Turnstile {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(places: number) {
    this.#free = places
  }

  async enter(): Promise<Disposable> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    let isInside = true
    return {
      [Symbol.dispose]: () => {
        if (!isInside) return
        isInside = false
        const next = this.#waiting.shift()
        if (next) next()
        else this.#free++
      },
    }
  }
}
