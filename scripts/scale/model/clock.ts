// Simulated time, and the processes that live in it. A process is a generator that yields what it waits for.

/** Calls `resume` when the process may go on. */
export type Wait = (resume: () => void) => void
export type Process = Generator<Wait, void, void>

interface Timer {
  readonly at: number
  /** Those at the same time run in the order in which they were set. */
  readonly number: number
  readonly run: () => void
}

export class Clock {
  /** In seconds. */
  now = 0
  /** A binary heap, the next one first. */
  readonly #timers: Timer[] = []
  #count = 0

  after(seconds: number, run: () => void): void {
    this.#push({ at: this.now + Math.max(0, seconds), number: this.#count++, run })
  }

  pause(seconds: number): Wait {
    return (resume) => this.after(seconds, resume)
  }

  start(process: Process): void {
    const step = () => {
      const next = process.next()
      if (!next.done) next.value(step)
    }
    step()
  }

  /** Runs everything that happens before `end`. */
  runUntil(end: number): void {
    for (let timer = this.#timers[0]; timer && timer.at < end; timer = this.#timers[0]) {
      this.#pop()
      this.now = timer.at
      timer.run()
    }
    this.now = end
  }

  #push(timer: Timer): void {
    const timers = this.#timers
    let index = timers.push(timer) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(timer, timers[parent]!)) break
      timers[index] = timers[parent]!
      index = parent
    }
    timers[index] = timer
  }

  #pop(): void {
    const timers = this.#timers
    const last = timers.pop()!
    if (timers.length === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= timers.length) break
      if (child + 1 < timers.length && isBefore(timers[child + 1]!, timers[child]!)) child++
      if (!isBefore(timers[child]!, last)) break
      timers[index] = timers[child]!
      index = child
    }
    timers[index] = last
  }
}

const isBefore = (one: Timer, other: Timer) =>
  one.at < other.at || (one.at === other.at && one.number < other.number)
