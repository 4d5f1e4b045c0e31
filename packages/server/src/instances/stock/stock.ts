// Keeps instances of one kind ready, and replaces those that are claimed.
import type { Logger } from 'pino'
import { pause } from '@berth/kit/pause'
import type { Semaphore } from '@berth/kit/semaphore'
import type { Instance } from '../driver/driver.ts'
import type { ReadyInstance } from './instances.ts'
import { StockShares } from './stock-shares.ts'

/** Delay after a claim: starting another at once would slow down the new session. */
const REFILL_AFTER_MS = 500
const RETRY_MS = 1_000
/** Doubled after each failure in a row, so that a host where nothing starts is not kept busy. */
const MAX_RETRY_MS = 60_000

export interface StockOptions {
  readonly name: string
  readonly size: number
  readonly make: () => Promise<ReadyInstance>
  /** How many this stock makes at a time, if it gets so many turns. */
  readonly atOnce: number
  /** Shared by all stocks, to keep the host responsive. */
  readonly turns: Semaphore
  readonly closing: AbortSignal
  readonly log: Logger
}

export class Stock {
  readonly #options: StockOptions
  readonly #ready: ReadyInstance[] = []
  readonly #shares = new StockShares()
  readonly #running = new Set<Promise<void>>()
  /** A refill begins in a moment. */
  #isDue = false
  #makers = 0
  #making = 0

  constructor(options: StockOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#ready.length
  }

  /** Resolves when no instance is being prepared. */
  get settled(): Promise<unknown> {
    return Promise.all(this.#running)
  }

  /** Undefined when there is none, or when those that are left are for other projects. */
  take(projectId: string): ReadyInstance | undefined {
    // Without a stock, nobody is owed anything.
    if (this.#options.size === 0) return this.#ready.shift()
    return this.#shares.mayTake(projectId, this.#ready.length) ? this.#ready.shift() : undefined
  }

  /** One that is ready, whoever may claim it, to be ended. */
  spare(): ReadyInstance | undefined {
    const ready = this.#ready.pop()
    if (ready) this.refill()
    return ready
  }

  giveBack(ready: ReadyInstance): void {
    this.#ready.unshift(ready)
  }

  /** Call it when the instance has ended, whether it was in stock or not. */
  remove(instance: Instance): void {
    const index = this.#ready.findIndex((ready) => ready.instance === instance)
    if (index === -1) return
    this.#ready.splice(index, 1)
    this.refill()
  }

  refill({ afterMs = REFILL_AFTER_MS } = {}): void {
    if (this.#isDue || this.#options.closing.aborted) return
    this.#isDue = true
    this.#track(this.#fillAfter(afterMs))
  }

  async #fillAfter(ms: number): Promise<void> {
    const { atOnce, closing } = this.#options
    await pause(ms, closing)
    this.#isDue = false
    while (!closing.aborted && this.#makers < atOnce && this.#missing > 0) {
      this.#makers++
      this.#track(this.#make().finally(() => this.#makers--))
    }
  }

  /** What nobody is making yet. */
  get #missing(): number {
    return this.#options.size - this.#ready.length - this.#making
  }

  /** One after another, until nothing is missing. */
  async #make(): Promise<void> {
    let pauseMs = 0
    while (this.#missing > 0) {
      pauseMs = (await this.#makeOne()) ? 0 : Math.min(MAX_RETRY_MS, Math.max(RETRY_MS, pauseMs * 2))
      await pause(pauseMs, this.#options.closing)
      if (this.#options.closing.aborted) return
    }
  }

  async #makeOne(): Promise<boolean> {
    const { name, make, turns, closing, log } = this.#options
    using making = new DisposableStack()
    this.#making++
    making.defer(() => this.#making--)
    making.use(await turns.enter())
    if (closing.aborted) return false
    try {
      this.#ready.push(await make())
      return true
    } catch (error) {
      if (!closing.aborted) log.warn({ err: error, kind: name }, 'cannot prepare an instance')
      return false
    }
  }

  #track(work: Promise<void>): void {
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
  }
}
