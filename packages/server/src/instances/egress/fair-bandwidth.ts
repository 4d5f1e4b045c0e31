// Divides a bandwidth between the projects that use it. Every tick, each of them gets an equal part; what one does not use
// goes to the others. Bytes are counted after they have passed: whoever has used up its part stops reading until the
// next tick, so nothing is held here.

const TICK_MS = 25

/** Counts bytes that have passed. False: stop, until `goOn` is called. */
export type Meter = (bytes: number, goOn: () => void) => boolean

interface User {
  /** Bytes it may still pass; below zero it waits. */
  balance: number
  /** Whether it passed something since the last tick. */
  isBusy: boolean
  waiting: (() => void)[]
}

export class FairBandwidth {
  readonly #perTick: number
  readonly #users = new Map<string, User>()
  #timer: NodeJS.Timeout | undefined

  constructor({ bytesPerSecond }: { bytesPerSecond: number }) {
    this.#perTick = (bytesPerSecond * TICK_MS) / 1000
  }

  take(key: string, bytes: number, goOn: () => void): boolean {
    const user = this.#users.get(key) ?? this.#add(key)
    user.isBusy = true
    user.balance -= bytes
    if (user.balance >= 0) return true
    user.waiting.push(goOn)
    return false
  }

  #add(key: string): User {
    const user = { balance: this.#perTick / (this.#users.size + 1), isBusy: true, waiting: [] }
    this.#users.set(key, user)
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref()
    return user
  }

  #tick(): void {
    for (const [key, { isBusy, balance }] of this.#users) {
      if (!isBusy && balance >= 0) this.#users.delete(key)
    }
    if (this.#users.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    this.#distribute()
    for (const user of this.#users.values()) {
      user.isBusy = false
      if (user.balance < 0) continue
      for (const goOn of user.waiting.splice(0)) goOn()
    }
  }

  /** Nobody saves up more than its part of one tick. */
  #distribute(): void {
    const most = this.#perTick / this.#users.size
    let left = this.#perTick
    let lacking = [...this.#users.values()]
    while (lacking.length > 0 && left >= 1) {
      const part = left / lacking.length
      for (const user of lacking) {
        const paid = Math.min(part, most - user.balance)
        user.balance += paid
        left -= paid
      }
      lacking = lacking.filter(({ balance }) => balance < most - 1)
    }
  }
}
