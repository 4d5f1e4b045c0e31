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
  /** Shared by all stocks: they start one at a time, to keep the host responsive. */
  readonly turns: Semaphore
  readonly closing: AbortSignal
  readonly log: Logger
}

export class Stock {
  readonly #options: StockOptions
  readonly #ready: ReadyInstance[] = []
  readonly #shares = new StockShares()
  #refilling: Promise<void> | undefined

  constructor(options: StockOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#ready.length
  }

  /** Resolves when no instance is being prepared. */
  get settled(): Promise<void> {
    return this.#refilling ?? Promise.resolve()
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
    if (this.#refilling || this.#options.closing.aborted) return
    this.#refilling = this.#fill(afterMs).finally(() => (this.#refilling = undefined))
  }

  async #fill(afterMs: number): Promise<void> {
    const { name, size, make, turns, closing, log } = this.#options
    let pauseMs = afterMs
    while (this.#ready.length < size) {
      await pause(pauseMs, closing)
      if (closing.aborted) return
      const turn = await turns.enter()
      try {
        if (closing.aborted) return
        this.#ready.push(await make())
        pauseMs = 0
      } catch (error) {
        if (closing.aborted) return
        log.warn({ err: error, kind: name }, 'cannot prepare an instance')
        pauseMs = Math.min(MAX_RETRY_MS, Math.max(RETRY_MS, pauseMs * 2))
      } finally {
        turn[Symbol.dispose]()
      }
    }
  }
}
