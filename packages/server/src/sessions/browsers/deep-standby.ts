// Deep standby: moves the memory of sessions that have been on standby for a while to swap, one after another, and keeps
// room for those that wake.
import { totalmem } from 'node:os'
import type { Logger } from 'pino'
import type { DeepStandbyReport, DriverMemory } from '../../instances/driver/driver.ts'
import { freeMemoryBytes } from '../../instances/stock/host-memory.ts'
import type { Instances } from '../../instances/stock/instances.ts'
import { isMemoryShort, nextToSink, reservedForWakes, type Sleeper } from './deep-standby-rules.ts'
import type { LiveSession } from './live-session.ts'
import type { LiveSessions } from './live-sessions.ts'
import { WakeTurns } from './wake-turns.ts'

/** While somebody is on standby, memory may become short at any time. */
const LOOK_EVERY_MS = 2_000
const READ_EVERY_MS = 10_000
/** After a failure, such as full swap. */
const AGAIN_AFTER_MS = 60_000

export interface DeepStandbyOptions {
  readonly live: Pick<LiveSessions, 'running'>
  readonly instances: Pick<Instances, 'readMemory' | 'keepFree' | 'spareOne' | 'capabilities'>
  /** 0 for never. */
  readonly afterSeconds: number
  readonly log: Logger
  readonly freeBytes?: () => Promise<number>
  readonly hostBytes?: number
  readonly lookEveryMs?: number
}

export class DeepStandby {
  readonly #options: DeepStandbyOptions
  readonly #turns: WakeTurns
  /** Sessions that could not be moved, and when that may be tried again. */
  readonly #unfit = new WeakMap<LiveSession, number>()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #memory: DriverMemory | undefined
  #readAt = -Infinity
  #isClosed = false
  #saidProblem: string | undefined

  constructor(options: DeepStandbyOptions) {
    this.#options = options
    const { freeBytes = freeMemoryBytes } = options
    this.#turns = new WakeTurns({ freeBytes, makeRoom: () => this.#makeRoom() })
    this.#say(this.report)
    this.#setTimer(READ_EVERY_MS)
  }

  get #lookEveryMs(): number {
    return this.#options.lookEveryMs ?? LOOK_EVERY_MS
  }

  /** What is known now: the device is made only when the first session needs it. */
  get report(): DeepStandbyReport {
    return this.#memory?.report ?? this.#options.instances.capabilities.deepStandby
  }

  get swap(): { readonly freeBytes: number; readonly totalBytes: number } {
    return this.#memory?.swap ?? { freeBytes: 0, totalBytes: 0 }
  }

  /** How many sessions wait for room to wake. */
  get waiting(): number {
    return this.#turns.waiting
  }

  /** Resolves when the session may wake. */
  async roomToWake(bytes: number, signal: AbortSignal): Promise<void> {
    await this.#turns.enter(bytes, signal)
  }

  /** Call it when a session went on standby or woke up. */
  look(): void {
    this.#setTimer(this.#lookEveryMs)
  }

  /** Reads what the sessions of an earlier server use, before any of them wakes. */
  async refresh(): Promise<void> {
    await this.#read().catch((error: unknown) =>
      this.#options.log.warn({ err: error }, 'cannot read what sessions use of memory'),
    )
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  #setTimer(ms: number): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#lookOnce(), ms).unref()
  }

  /** Never rejects. */
  #lookOnce({ isShort = false } = {}): Promise<void> {
    this.#looking ??= this.#look(isShort)
      .catch((error: unknown) =>
        this.#options.log.warn({ err: error }, 'cannot move sessions into deep standby'),
      )
      .finally(() => {
        this.#looking = undefined
        const isAnyoneLight = this.#circumstances().sleepers.some(({ depth }) => depth === 'light')
        this.#setTimer(isAnyoneLight && this.report.place !== undefined ? this.#lookEveryMs : READ_EVERY_MS)
      })
    return this.#looking
  }

  async #look(isShort: boolean): Promise<void> {
    const { live, instances, freeBytes = freeMemoryBytes, hostBytes = totalmem() } = this.#options
    if (live.running.size === 0) return instances.keepFree(0)
    for (;;) {
      const circumstances = this.#circumstances()
      const reservedBytes = reservedForWakes(circumstances.sleepers, hostBytes)
      instances.keepFree(reservedBytes)
      const isShortNow = isShort || isMemoryShort({ freeBytes: await freeBytes(), reservedBytes, hostBytes })
      const isWorthReading =
        performance.now() - this.#readAt >= READ_EVERY_MS ||
        live.running.values().some(({ memory }) => memory === undefined) ||
        nextToSink({ ...circumstances, isShort: isShortNow, swap: anyRoom }) !== undefined
      if (isWorthReading) await this.#read()
      if (this.#isClosed || this.report.place === undefined) return
      const now = { ...this.#circumstances(), isShort: isShortNow, swap: this.swap }
      const next = nextToSink(now)
      const session = next && live.running.get(next.id)
      if (!session) return
      await this.#sink(session)
      // Whoever waits for room looks whether it is enough.
      if (isShort) return
    }
  }

  async #sink(session: LiveSession): Promise<void> {
    const startedAt = performance.now()
    try {
      await session.sink()
      // It may have woken meanwhile, or have been woken.
      if (session.depth === 'light') this.#unfit.set(session, performance.now() + AGAIN_AFTER_MS)
      if (session.depth !== 'deep') return
      const { residentBytes, swappedBytes } = session.memory ?? {}
      const ms = Math.round(performance.now() - startedAt)
      this.#options.log.debug(
        { sessionId: session.id, residentBytes, swappedBytes, ms },
        'a session is in deep standby',
      )
    } catch (error) {
      if (session.depth === undefined) return
      this.#unfit.set(session, performance.now() + AGAIN_AFTER_MS)
      this.#options.log.warn(
        { err: error, sessionId: session.id },
        'cannot move the memory of a session to swap; it stays on standby',
      )
    }
  }

  async #read(): Promise<void> {
    const { instances, live } = this.#options
    const memory = await instances.readMemory()
    if (!memory) return
    this.#memory = memory
    this.#readAt = performance.now()
    for (const session of live.running.values()) session.saw(memory.uses.get(session.instance.id))
    this.#say(memory.report)
  }

  /** Somebody waits for room, so nobody's time counts. */
  async #makeRoom(): Promise<void> {
    const before = this.#deepCount()
    await this.#lookOnce({ isShort: true })
    if (this.#deepCount() <= before) this.#options.instances.spareOne()
  }

  #deepCount(): number {
    return [...this.#options.live.running.values()].filter(({ depth }) => depth === 'deep').length
  }

  #circumstances(): { sleepers: Sleeper[]; afterMs: number; projects: number } {
    const sessions = [...this.#options.live.running.values()]
    const sleepers = sessions.flatMap((session) => {
      const { id, projectId, depth, asleepMs, memory, isIdle: isPooled } = session
      if (depth === undefined || session.state !== 'standby') return []
      const isUnfit = (this.#unfit.get(session) ?? -Infinity) > performance.now()
      const { residentBytes = 0, swappedBytes = 0 } = memory ?? {}
      return [{ id, projectId, depth, asleepMs, residentBytes, swappedBytes, isUnfit, isPooled }]
    })
    const { afterSeconds } = this.#options
    const afterMs = afterSeconds === 0 ? Infinity : afterSeconds * 1000
    return { sleepers, afterMs, projects: new Set(sessions.map(({ projectId }) => projectId)).size }
  }

  /** Once for each answer. */
  #say({ place, problem, isUnwanted }: DeepStandbyReport): void {
    const said = place ?? problem ?? ''
    if (said === this.#saidProblem) return
    this.#saidProblem = said
    const { log, afterSeconds } = this.#options
    if (place !== undefined)
      log.info({ place, afterSeconds }, 'deep standby: sessions give their memory back')
    else if (!isUnwanted) log.warn({ problem }, 'no deep standby: sessions on standby keep their memory')
  }
}

const anyRoom = { freeBytes: Number.MAX_VALUE, totalBytes: Number.MAX_VALUE }
