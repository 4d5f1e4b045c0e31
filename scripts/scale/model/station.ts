// What processes queue for: places that one holds for a while, and rates that let only so many through.
import type { Clock, Wait } from './clock.ts'

export interface Use {
  /** Share of the time in which a place was taken, over all places. */
  readonly utilisation: number
  /** Mean time in the queue, in seconds. */
  readonly meanWait: number
  readonly count: number
}

interface Waiting {
  readonly since: number
  readonly enter: () => void
}

/** A number of places, in order of arrival. */
export class Station {
  readonly #clock: Clock
  readonly #places: number
  /** What else takes the same places, as a share of them: work that is too small and too frequent to follow. */
  readonly #background: () => number
  #waiting: Waiting[] = []
  /** Those before it have entered. */
  #first = 0
  #taken = 0
  #busy = 0
  #busyUntil = 0
  #measuredFrom = 0
  #waited = 0
  #count = 0

  constructor(clock: Clock, places: number, background: () => number = () => 0) {
    this.#clock = clock
    this.#places = places
    this.#background = background
  }

  get queueLength(): number {
    return this.#waiting.length - this.#first
  }

  get taken(): number {
    return this.#taken
  }

  /** Whoever has entered leaves. */
  enter(): Wait {
    return (resume) => {
      if (this.#taken < this.#places) {
        this.#take(0)
        resume()
      } else this.#waiting.push({ since: this.#clock.now, enter: resume })
    }
  }

  leave(): void {
    this.#account()
    this.#taken--
    const next = this.#waiting[this.#first]
    if (!next) return
    this.#first++
    if (this.#first > 1000) {
      this.#waiting = this.#waiting.slice(this.#first)
      this.#first = 0
    }
    this.#take(this.#clock.now - next.since)
    next.enter()
  }

  /** Takes a place for so much work. It takes longer when other work takes a part of the place. */
  work(seconds: number): Wait {
    return (resume) => {
      this.enter()(() => {
        const left = Math.max(MIN_SHARE, 1 - this.#background())
        this.#clock.after(seconds / left, () => {
          this.leave()
          resume()
        })
      })
    }
  }

  /** Forgets what was measured so far. */
  measure(): void {
    this.#account()
    this.#busy = 0
    this.#waited = 0
    this.#count = 0
    this.#measuredFrom = this.#clock.now
  }

  get use(): Use {
    this.#account()
    const seconds = Math.max(Number.EPSILON, this.#clock.now - this.#measuredFrom)
    const own = this.#busy / seconds / this.#places
    const background = this.#background()
    return {
      // Own work took so much longer as the background took from it.
      utilisation: Math.min(1, own * Math.max(MIN_SHARE, 1 - background) + background),
      meanWait: this.#waited / Math.max(1, this.#count),
      count: this.#count,
    }
  }

  #take(waited: number): void {
    this.#account()
    this.#taken++
    this.#waited += waited
    this.#count++
  }

  #account(): void {
    const { now } = this.#clock
    this.#busy += this.#taken * (now - this.#busyUntil)
    this.#busyUntil = now
  }
}

/** Work goes on, however slowly. */
const MIN_SHARE = 0.02

/** Lets so many through in a second, and a few at once after a silence. */
export class Rate {
  readonly #clock: Clock
  readonly #perSecond: number
  readonly #burst: number
  /** When the bucket would be full again. */
  #fullAt = 0
  #measuredFrom = 0
  #waited = 0
  #count = 0

  constructor(clock: Clock, { perSecond, burst }: { perSecond: number; burst: number }) {
    this.#clock = clock
    this.#perSecond = perSecond
    this.#burst = burst
  }

  pass(): Wait {
    return (resume) => {
      const { now } = this.#clock
      this.#fullAt = Math.max(now, this.#fullAt) + 1 / this.#perSecond
      const wait = Math.max(0, this.#fullAt - now - this.#burst / this.#perSecond)
      this.#waited += wait
      this.#count++
      if (wait === 0) resume()
      else this.#clock.after(wait, resume)
    }
  }

  /** How many have asked and are not through yet. */
  get queueLength(): number {
    return Math.max(0, (this.#fullAt - this.#clock.now) * this.#perSecond - this.#burst)
  }

  measure(): void {
    this.#waited = 0
    this.#count = 0
    this.#measuredFrom = this.#clock.now
  }

  get use(): Use {
    const seconds = Math.max(Number.EPSILON, this.#clock.now - this.#measuredFrom)
    return {
      utilisation: this.#count / seconds / this.#perSecond,
      meanWait: this.#waited / Math.max(1, this.#count),
      count: this.#count,
    }
  }
}
