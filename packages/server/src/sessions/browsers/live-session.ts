// One session on this server: its holds, its uptime and its end. A session that nobody holds goes on standby after a
// moment, and ends when its timeout is over.
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import type { EndReason } from '@berth/contracts/browsers'
import type { LinkPurpose } from '@berth/contracts/link'
import type { Instance, InstanceEnd, MemoryUse, OomKill } from '../../instances/driver/driver.ts'
import type { PreparedClient } from '../../instances/devtools/prepared-client.ts'
import type { AgentClient } from '../../instances/agent/client.ts'
import { readState, waitForChromium } from '../../instances/agent/state.ts'
import type { Collector } from '../telemetry/collector.ts'
import type { OwnEvent } from '../session/own-event.ts'
import type { Selection } from '../telemetry/selection.ts'
import { RunningPrograms } from './running-programs.ts'
import type { AgentLoan, Hold, HoldOptions } from '../session/session.ts'
import { OnStandby, SessionEnded } from '../session/session.ts'
import { Standby, type Depth, type StandbyRule } from './standby.ts'
import { cannotWake } from './no-room.ts'
import { NoRoomToWake } from './wake-turns.ts'
import { LeasedSession, type PooledSession, type CurrentLease } from './leased-session.ts'

export interface LiveSessionOptions {
  readonly id: string
  readonly projectId: string
  readonly instance: Instance
  readonly agent: AgentClient
  readonly telemetry: Collector
  /** That of its row when it was found. */
  readonly telemetryVersion?: number
  /** For the first client of the browser. */
  readonly preparedClient?: PreparedClient | undefined
  /** Null while the browser waits in its pool, where it does not time out. */
  readonly timeoutSeconds: number | null
  /** Only for a pooled browser. */
  readonly lease?: CurrentLease | undefined
  /** Null where the host cannot freeze. */
  readonly standby: StandbyRule | null
  readonly uptimeMs: number
  /** See StandbyOptions. */
  readonly roomToWake?: (bytes: number, signal: AbortSignal) => Promise<void>
  readonly onWoken?: (depth: Depth, ms: number) => void
  readonly hasProfile: boolean
  readonly log: Logger
  /** Called when the session went on standby or woke up. */
  readonly onStandby: (session: LiveSession) => void
  /** Called when another server has taken the session over. */
  readonly onTaken?: (session: LiveSession) => void
  /** Called once, when the session is being ended or its instance has ended. */
  readonly onEnd: (session: LiveSession, reason: EndReason) => void
}

export class LiveSession implements PooledSession {
  readonly id: string
  readonly projectId: string
  readonly instance: Instance
  readonly agent: AgentClient
  readonly telemetry: Collector
  readonly telemetryVersion: number | undefined
  /** Whether a profile is attached, which may be saved at the end. Follows the row with a delay. */
  hasProfile: boolean
  readonly #onEnd: LiveSessionOptions['onEnd']
  readonly #onTaken: LiveSessionOptions['onTaken']
  readonly #ending = new AbortController()
  readonly #standby: Standby
  readonly #programs: RunningPrograms
  /** An earlier server left it in deep standby, with this version of its telemetry selection. It is told when it wakes. */
  #capturesLater: number | undefined
  #leased: LeasedSession | undefined
  #timeoutMs: number | null
  #hasHadClients = false
  #preparedClient: PreparedClient | undefined
  #holds = 0
  #idleSince = performance.now()
  #idleTimer: NodeJS.Timeout | undefined

  constructor(options: LiveSessionOptions) {
    const { id, instance, agent, log, roomToWake = async () => {}, onWoken = () => {} } = options
    this.id = id
    this.projectId = options.projectId
    this.instance = instance
    this.agent = agent
    this.telemetry = options.telemetry
    this.telemetryVersion = options.telemetryVersion
    this.hasProfile = options.hasProfile
    this.#preparedClient = options.preparedClient
    this.#onEnd = options.onEnd
    this.#onTaken = options.onTaken
    this.#timeoutMs = toMs(options.timeoutSeconds)
    if (options.lease) this.#leased = new LeasedSession(this, options.lease)
    this.#standby = new Standby({
      instance,
      rule: options.standby,
      uptimeMs: options.uptimeMs,
      roomToWake,
      onWoken,
      untilAnswering: () => readState(agent, { signal: this.ending }),
      onSwitch: () => {
        if (!this.#standby.isAsleep) this.#capturesLater = undefined
        options.onStandby(this)
      },
      log,
    })
    this.#capturesLater = instance.isPagedOut ? options.telemetryVersion : undefined
    void instance.ended.then((end) => this.#onInstanceEnd(end))
    this.#becomeIdle()
    this.#programs = new RunningPrograms({ agent, hold: () => this.hold(), ending: this.ending })
  }

  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** The state that the row should have. */
  get state(): 'ready' | 'standby' | 'ending' {
    if (this.ending.aborted) return 'ending'
    return this.#standby.isAsleep ? 'standby' : 'ready'
  }

  get uptimeMs(): number {
    return this.#standby.uptimeMs
  }

  get depth(): Depth | undefined {
    return this.#standby.depth
  }

  get asleepMs(): number {
    return this.#standby.asleepMs
  }

  get lastWakeMs(): number | undefined {
    return this.#standby.lastWakeMs
  }

  get memory(): MemoryUse | undefined {
    return this.#standby.memory
  }

  /** What the driver has read. */
  saw(memory: MemoryUse | undefined): void {
    this.#standby.memory = memory
  }

  /** Into deep standby, if it is on standby. */
  async sink(): Promise<void> {
    await this.#standby.sink()
  }

  set timeoutSeconds(seconds: number | null) {
    // The timeout of a lease starts with the lease, not with the wait in the pool.
    if (this.#timeoutMs === null) this.#idleSince = performance.now()
    this.#timeoutMs = toMs(seconds)
    if (this.#holds === 0) this.#setIdleTimer()
  }

  get leaseNumber(): number {
    return this.#leased?.leaseNumber ?? 0
  }

  /** Whether the browser waits in its pool. */
  get isIdle(): boolean {
    return this.#leased?.isIdle ?? false
  }

  /** The session as its current lease holder sees it. */
  get current(): PooledSession {
    return this.#leased ?? this
  }

  /** Starts another lease, or returns the browser to its pool. Disconnects the previous lease holder. */
  pass(lease: CurrentLease): void {
    // Announcements may arrive twice or out of order.
    if (this.ending.aborted || lease.number <= this.leaseNumber) return
    this.#leased?.end('released')
    this.#leased = new LeasedSession(this, lease)
  }

  hold(options?: HoldOptions): Hold {
    this.#holds++
    clearTimeout(this.#idleTimer)
    const awake = this.#standby.hold(options)
    let isHeld = true
    return {
      stir: () => awake.stir(),
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        awake[Symbol.dispose]()
        this.#holds--
        if (this.#holds === 0) this.#becomeIdle()
      },
    }
  }

  stayAwake(): Disposable {
    return this.hold()
  }

  publish(event: OwnEvent): void {
    this.telemetry.publish(event)
  }

  /** Applies the row's telemetry selection. Holds the session only when the selection changed. */
  async capture(selection: Selection, version: number): Promise<void> {
    if (this.telemetry.isCurrent(version) || this.#capturesLater === version) return
    const loan = await this.lend()
    try {
      await this.telemetry.configure(selection, version)
    } finally {
      loan[Symbol.dispose]()
    }
  }

  async connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Duplex> {
    await this.#wake()
    return this.instance.connect(purpose, AbortSignal.any([signal, this.ending]))
  }

  async preparedClient(): Promise<Duplex | undefined> {
    const prepared = this.#preparedClient
    if (!prepared) return undefined
    this.#preparedClient = undefined
    const isCurrent = !this.#hasHadClients && prepared.path === this.agent.lastState.value?.devtools_path
    this.#hasHadClients = true
    await this.#wake()
    return isCurrent ? prepared.take() : prepared.close()
  }

  peek(): AgentClient {
    this.ending.throwIfAborted()
    if (this.#standby.isAsleep) throw new OnStandby()
    return this.agent
  }

  async connectAside(signal: AbortSignal): Promise<Duplex> {
    this.peek()
    return this.instance.connect('api', AbortSignal.any([signal, this.ending]))
  }

  async devtoolsPath({ isKnownWrong = false }: { isKnownWrong?: boolean } = {}): Promise<string> {
    const known = this.agent.lastState.value?.devtools_path
    // A client may have closed Chromium, which still accepts connections for a moment before it exits.
    const mayBeEnding = this.#hasHadClients || isKnownWrong
    this.#hasHadClients = true
    if (known && !mayBeEnding) return known
    await this.#wake()
    const { devtools_path } = await waitForChromium(this.agent, { signal: this.ending })
    return devtools_path
  }

  async lend(): Promise<AgentLoan> {
    const hold = this.hold()
    try {
      await this.#wake()
      return { agent: this.agent, [Symbol.dispose]: () => hold[Symbol.dispose]() }
    } catch (error) {
      hold[Symbol.dispose]()
      throw error
    }
  }

  /** Notices programs that were started without this server, such as through a tunnel. */
  async look(): Promise<void> {
    await readState(this.agent, { signal: this.ending })
  }

  #onInstanceEnd(end: InstanceEnd): void {
    if (end === 'taken-over') return this.#onTaken?.(this)
    const isOwnEnd = this.ending.aborted
    if (!isOwnEnd && end === 'out-of-memory') this.publish(outOfMemory(this.instance.lastOomKill))
    if (!isOwnEnd && end === 'ended-by-itself') {
      this.publish({ type: 'service_crashed', data: { service_name: 'instance', phase: 'running' } })
    }
    this.end(reasonOf[end])
  }

  /** The first reason counts. `onEnd` does the cleanup. */
  end(reason: EndReason): void {
    if (this.#ending.signal.aborted) return
    clearTimeout(this.#idleTimer)
    this.#standby.close()
    this.#ending.abort(new SessionEnded(reason))
    this.#leased?.end(reason)
    this.#preparedClient?.close()
    // Lease renewal continues, because cleanup may still need the instance.
    this.agent.endWork()
    this.#onEnd(this, reason)
  }

  /** Stops watching the session without ending it. A server that stops leaves it to the next one. */
  release(): void {
    this.#programs.close()
    clearTimeout(this.#idleTimer)
    this.#standby.close()
    this.#preparedClient?.close()
    this.agent.close()
  }

  /** The caller must hold the session, or it may go on standby again at once. */
  async #wake(): Promise<void> {
    try {
      await this.#standby.wake()
    } catch (error) {
      this.ending.throwIfAborted()
      throw error instanceof NoRoomToWake ? cannotWake(error) : error
    }
    this.ending.throwIfAborted()
  }

  #becomeIdle(): void {
    if (this.ending.aborted) return
    this.#idleSince = performance.now()
    this.#setIdleTimer()
  }

  #setIdleTimer(): void {
    clearTimeout(this.#idleTimer)
    if (this.#timeoutMs === null) return
    const left = this.#idleSince + this.#timeoutMs - performance.now()
    this.#idleTimer = setTimeout(() => this.end('timed_out'), Math.max(0, left))
  }
}

function toMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000
}

/** The session's end reason when its instance ends first. */
const reasonOf: Readonly<Record<Exclude<InstanceEnd, 'taken-over'>, EndReason>> = {
  destroyed: 'crashed',
  'ended-by-itself': 'crashed',
  'out-of-memory': 'out_of_memory',
  'lease-lapsed': 'lost',
  lost: 'lost',
}

/** Contains the kernel's report where the host can read it. */
function outOfMemory(kill: OomKill | undefined): OwnEvent {
  const { processName = 'unknown', pid = 0, rssKb = 0, limitKb } = kill ?? {}
  return {
    type: 'system_oom_kill',
    data: {
      process_name: processName,
      pid,
      rss_kb: rssKb,
      constraint: 'memcg',
      ...(limitKb !== undefined && { mem_total_kb: limitKb }),
    },
  }
}
