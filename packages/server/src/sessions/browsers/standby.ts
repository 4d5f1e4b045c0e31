// Puts an instance on standby: frozen when nobody has held it for a moment, or when those who hold it
// have been silent for as long as its maker said. Running time is counted here, as standby is not.
import type { Logger } from 'pino'
import type { Instance } from '../../instances/driver/driver.ts'
import type { Hold, HoldOptions } from '../session/session.ts'

export interface StandbyRule {
  /** Without anybody who holds it. */
  readonly whenFreeMs: number
  /** With holds that may sleep, and nothing that passes; null: never. */
  readonly whenSilentMs: number | null
}

export interface StandbyOptions {
  readonly instance: Instance
  /** Null: it cannot be frozen. */
  readonly rule: StandbyRule | null
  readonly uptimeMs: number
  /** It was frozen, or runs again. */
  readonly onSwitch: () => void
  readonly log: Logger
}

export class Standby {
  readonly #options: StandbyOptions
  #holds = 0
  #wakefulHolds = 0
  /** When something passed last, or the last hold ended. */
  #stirredAt = performance.now()
  #timer: NodeJS.Timeout | undefined
  /** From the moment it is decided until it runs again. */
  #isAsleep: boolean
  /** Freezing and thawing take turns, in the order they were asked for. */
  #switching: Promise<void> = Promise.resolve()
  #isClosed = false
  #uptimeMs: number
  #runningSince: number | undefined = performance.now()

  constructor(options: StandbyOptions) {
    this.#options = options
    this.#uptimeMs = options.uptimeMs
    this.#isAsleep = options.instance.isFrozen
    this.#setTimer()
  }

  get uptimeMs(): number {
    const running = this.#runningSince === undefined ? 0 : performance.now() - this.#runningSince
    return Math.round(this.#uptimeMs + running)
  }

  /** From the moment it is decided until it runs again. */
  get isAsleep(): boolean {
    return this.#isAsleep
  }

  /** Disposed once. */
  hold({ maySleep = false }: HoldOptions = {}): Hold {
    this.#holds++
    if (!maySleep) this.#wakefulHolds++
    this.#stir()
    this.#setTimer()
    return {
      stir: () => this.#stir(),
      [Symbol.dispose]: () => {
        this.#holds--
        if (!maySleep) this.#wakefulHolds--
        this.#stirredAt = performance.now()
        this.#setTimer()
      },
    }
  }

  /** Resolves when it runs. */
  async wake(): Promise<void> {
    await this.#switch(() => this.#thaw())
  }

  /** Lets it be as it is; its clock stops. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#stopClock()
  }

  /** Called for every chunk that passes, so it does nothing else while awake. */
  #stir(): void {
    this.#stirredAt = performance.now()
    if (this.#isAsleep) this.wake().catch((error: unknown) => this.#warn(error, 'cannot wake a session'))
  }

  /** Undefined: not as things are. */
  get #quietMs(): number | undefined {
    const { rule } = this.#options
    if (!rule || this.#isClosed || this.#wakefulHolds > 0) return undefined
    return (this.#holds === 0 ? rule.whenFreeMs : rule.whenSilentMs) ?? undefined
  }

  #setTimer(): void {
    clearTimeout(this.#timer)
    const quietMs = this.#quietMs
    if (quietMs === undefined || this.#isAsleep) return
    const left = this.#stirredAt + quietMs - performance.now()
    this.#timer = setTimeout(() => this.#onQuiet(), Math.max(0, left))
  }

  #onQuiet(): void {
    // What passes does not move the timer, which would cost more than looking at the end.
    if (!this.#isQuiet) return this.#setTimer()
    this.#switch(() => this.#freeze()).catch((error: unknown) =>
      this.#warn(error, 'cannot put a session on standby'),
    )
  }

  get #isQuiet(): boolean {
    const quietMs = this.#quietMs
    // A timer may come a fraction of a millisecond early.
    return quietMs !== undefined && performance.now() - this.#stirredAt >= quietMs - 1
  }

  #switch(change: () => Promise<void>): Promise<void> {
    const done = this.#switching.then(change)
    this.#switching = done.catch(() => {})
    return done
  }

  async #freeze(): Promise<void> {
    if (this.#isAsleep) return
    if (!this.#isQuiet) return this.#setTimer()
    this.#isAsleep = true
    try {
      await this.#options.instance.freeze()
      this.#stopClock()
      this.#options.onSwitch()
    } catch (error) {
      this.#isAsleep = false
      this.#stirredAt = performance.now()
      this.#setTimer()
      throw error
    }
  }

  async #thaw(): Promise<void> {
    if (!this.#isAsleep || this.#isClosed) return
    await this.#options.instance.thaw()
    this.#isAsleep = false
    this.#runningSince ??= performance.now()
    this.#setTimer()
    this.#options.onSwitch()
  }

  #stopClock(): void {
    this.#uptimeMs = this.uptimeMs
    this.#runningSince = undefined
  }

  #warn(error: unknown, message: string): void {
    const { log, instance } = this.#options
    if (!this.#isClosed) log.warn({ err: error, instanceId: instance.id }, message)
  }
}
