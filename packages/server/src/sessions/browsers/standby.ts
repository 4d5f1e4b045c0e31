// Puts an instance on standby: freezes it when nobody has held it for a moment, or when its holders have been silent
// for the configured time. Also counts uptime, which excludes standby.
import type { Logger } from 'pino'
import type { Instance, MemoryUse } from '../../instances/driver/driver.ts'
import type { Hold, HoldOptions } from '../session/session.ts'
import { SerialQueue } from '@berth/kit/serial-queue'

export interface StandbyRule {
  /** Delay when nobody holds the session. */
  readonly whenFreeMs: number
  /** Delay without traffic when every hold allows standby; null disables this. */
  readonly whenSilentMs: number | null
}

export interface StandbyOptions {
  readonly instance: Instance
  /** Null when the host cannot freeze. */
  readonly rule: StandbyRule | null
  readonly uptimeMs: number
  /** Resolves when the host has room for so much memory, which a session in deep standby takes back. */
  readonly roomToWake: (bytes: number, signal: AbortSignal) => Promise<void>
  /** Resolves when the instance answers. */
  readonly untilAnswering: () => Promise<unknown>
  readonly onWoken: (depth: Depth, ms: number) => void
  /** Called after the instance was frozen or thawed. */
  readonly onSwitch: () => void
  readonly log: Logger
}

/** `deep`: its memory is in swap. */
export type Depth = 'light' | 'deep'

export class Standby {
  readonly #options: StandbyOptions
  #holds = 0
  #wakefulHolds = 0
  /** Time of the last traffic or the last end of a hold. */
  #stirredAt = performance.now()
  #timer: NodeJS.Timeout | undefined
  #isAsleep: boolean
  /** Runs freezes and thaws one at a time, in order. */
  readonly #switches = new SerialQueue()
  #waking: Promise<void> | undefined
  readonly #closing = new AbortController()
  #memory: MemoryUse | undefined
  #asleepSince: number
  #lastWakeMs: number | undefined
  #uptimeMs: number
  #runningSince: number | undefined = performance.now()

  constructor(options: StandbyOptions) {
    this.#options = options
    this.#uptimeMs = options.uptimeMs
    this.#isAsleep = options.instance.isFrozen
    this.#asleepSince = performance.now()
    if (this.#isAsleep) this.#runningSince = undefined
    this.#setTimer()
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Undefined while it runs. */
  get depth(): Depth | undefined {
    if (!this.#isAsleep) return undefined
    return this.#options.instance.isPagedOut ? 'deep' : 'light'
  }

  /** How long it has been frozen; 0 while it runs. */
  get asleepMs(): number {
    return this.#isAsleep ? performance.now() - this.#asleepSince : 0
  }

  /** From the request until it ran, and after deep standby until it answered. Undefined before the first wake. */
  get lastWakeMs(): number | undefined {
    return this.#lastWakeMs
  }

  /** As it was seen last. */
  get memory(): MemoryUse | undefined {
    return this.#memory
  }

  set memory(memory: MemoryUse | undefined) {
    this.#memory = memory
  }

  get uptimeMs(): number {
    const running = this.#runningSince === undefined ? 0 : performance.now() - this.#runningSince
    return Math.round(this.#uptimeMs + running)
  }

  /** True from the decision to freeze until the instance runs again. */
  get isAsleep(): boolean {
    return this.#isAsleep
  }

  /** The caller disposes the hold exactly once. */
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

  /** Resolves when the instance runs. */
  async wake(): Promise<void> {
    // All who wait share one turn.
    this.#waking ??= this.#switch(() => this.#thaw()).finally(() => (this.#waking = undefined))
    await this.#waking
  }

  /** Moves its memory to swap, if it is on standby. Waking interrupts that. */
  async sink(): Promise<void> {
    const { instance, onSwitch } = this.#options
    if (!instance.pageOut || !instance.isFrozen || this.#isClosed || this.#waking) return
    this.#memory = await instance.pageOut()
    if (this.#isAsleep && !this.#isClosed) onSwitch()
  }

  /** Leaves the instance frozen or running, and stops counting uptime. */
  close(): void {
    this.#closing.abort()
    clearTimeout(this.#timer)
    this.#stopClock()
  }

  /** Called for every chunk of traffic, so it only stores the time while awake. */
  #stir(): void {
    this.#stirredAt = performance.now()
    if (this.#isAsleep) this.wake().catch((error: unknown) => this.#warn(error, 'cannot wake a session'))
  }

  /** Undefined while standby is not allowed. */
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
    // Traffic does not reset the timer, because checking once at its end is cheaper.
    if (!this.#isQuiet) return this.#setTimer()
    this.#switch(() => this.#freeze()).catch((error: unknown) =>
      this.#warn(error, 'cannot put a session on standby'),
    )
  }

  get #isQuiet(): boolean {
    const quietMs = this.#quietMs
    // A timer may fire a fraction of a millisecond early.
    return quietMs !== undefined && performance.now() - this.#stirredAt >= quietMs - 1
  }

  #switch(change: () => Promise<void>): Promise<void> {
    return this.#switches.run(change)
  }

  async #freeze(): Promise<void> {
    if (this.#isAsleep) return
    if (!this.#isQuiet) return this.#setTimer()
    this.#isAsleep = true
    try {
      await this.#options.instance.freeze()
      this.#asleepSince = performance.now()
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
    const { instance, roomToWake } = this.#options
    const startedAt = performance.now()
    const isDeep = instance.isPagedOut === true
    if (isDeep) await roomToWake(this.#memory?.swappedBytes ?? 0, this.#closing.signal)
    await instance.thaw()
    this.#isAsleep = false
    if (isDeep) this.#memory = undefined
    this.#woke(isDeep ? 'deep' : 'light', startedAt)
    this.#runningSince ??= performance.now()
    this.#setTimer()
    this.#options.onSwitch()
  }

  #woke(depth: Depth, startedAt: number): void {
    const measure = () => {
      this.#lastWakeMs = Math.round(performance.now() - startedAt)
    }
    measure()
    const answered = depth === 'deep' ? this.#options.untilAnswering().then(measure) : Promise.resolve()
    answered.then(
      () => this.#options.onWoken(depth, this.#lastWakeMs!),
      // It is ending, or sleeps again.
      () => {},
    )
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
