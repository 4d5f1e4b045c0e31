// One session on this server: who holds it awake, how long it has run, and how it ends. A session that
// nobody holds is put on standby after a moment, and ends when its timeout is over.
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import type { EndReason } from '@berth/contracts/browsers'
import type { LinkPurpose } from '@berth/contracts/link'
import type { Instance, InstanceEnd, OomKill } from '../../instances/driver/driver.ts'
import type { AgentClient } from '../../instances/agent/client.ts'
import { readState, waitForChromium } from '../../instances/agent/state.ts'
import type { Collector } from '../telemetry/collector.ts'
import type { OwnEvent } from '../session/own-event.ts'
import type { Selection } from '../telemetry/selection.ts'
import { RunningPrograms } from './running-programs.ts'
import type { AgentLoan, Hold, HoldOptions } from '../session/session.ts'
import { SessionEnded } from '../session/session.ts'
import { Standby, type StandbyRule } from './standby.ts'
import { LeasedSession, type PooledSession, type CurrentLease } from './leased-session.ts'

export interface LiveSessionOptions {
  readonly id: string
  readonly projectId: string
  readonly instance: Instance
  readonly agent: AgentClient
  readonly telemetry: Collector
  /** Null: it does not time out, as it waits in its pool. */
  readonly timeoutSeconds: number | null
  /** Of a browser of a pool. */
  readonly lease?: CurrentLease | undefined
  /** Null where the host cannot freeze. */
  readonly standby: StandbyRule | null
  readonly uptimeMs: number
  readonly hasProfile: boolean
  readonly log: Logger
  /** Called when it was put on standby, or woken. */
  readonly onStandby: (session: LiveSession) => void
  /** Called once, when the session is to end or has ended by itself. */
  readonly onEnd: (session: LiveSession, reason: EndReason) => void
}

export class LiveSession implements PooledSession {
  readonly id: string
  readonly projectId: string
  readonly instance: Instance
  readonly agent: AgentClient
  readonly telemetry: Collector
  /** May be saved into it at its end; as far as this server was told. */
  hasProfile: boolean
  readonly #onEnd: LiveSessionOptions['onEnd']
  readonly #ending = new AbortController()
  readonly #standby: Standby
  readonly #programs: RunningPrograms
  #leased: LeasedSession | undefined
  #timeoutMs: number | null
  #hasHadClients = false
  #holds = 0
  #idleSince = performance.now()
  #idleTimer: NodeJS.Timeout | undefined

  constructor(options: LiveSessionOptions) {
    const { id, instance, agent, log } = options
    this.id = id
    this.projectId = options.projectId
    this.instance = instance
    this.agent = agent
    this.telemetry = options.telemetry
    this.hasProfile = options.hasProfile
    this.#onEnd = options.onEnd
    this.#timeoutMs = toMs(options.timeoutSeconds)
    if (options.lease) this.#leased = new LeasedSession(this, options.lease)
    this.#standby = new Standby({
      instance,
      rule: options.standby,
      uptimeMs: options.uptimeMs,
      onSwitch: () => options.onStandby(this),
      log,
    })
    void instance.ended.then((end) => this.#onInstanceEnd(end))
    this.#becomeIdle()
    this.#programs = new RunningPrograms({ agent, hold: () => this.hold(), ending: this.ending })
  }

  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** What its row is to say, as long as it lives here. */
  get state(): 'ready' | 'standby' | 'ending' {
    if (this.ending.aborted) return 'ending'
    return this.#standby.isAsleep ? 'standby' : 'ready'
  }

  get uptimeMs(): number {
    return this.#standby.uptimeMs
  }

  set timeoutSeconds(seconds: number | null) {
    // That of a lease begins with it, however long the browser has waited.
    if (this.#timeoutMs === null) this.#idleSince = performance.now()
    this.#timeoutMs = toMs(seconds)
    if (this.#holds === 0) this.#setIdleTimer()
  }

  get leaseNumber(): number {
    return this.#leased?.leaseNumber ?? 0
  }

  /** It waits in its pool. */
  get isIdle(): boolean {
    return this.#leased?.isIdle ?? false
  }

  /** The session as its current lease holder sees it. */
  get current(): PooledSession {
    return this.#leased ?? this
  }

  /** Another lease began, or it waits in its pool again: the lease holder before is sent away. */
  pass(lease: CurrentLease): void {
    // What is known already may be told again, and late.
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

  /** Captures as its row says. To look whether it does is no use of the session. */
  async capture(selection: Selection, version: number): Promise<void> {
    if (this.telemetry.isCurrent(version)) return
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

  async devtoolsPath({ isKnownWrong = false }: { isKnownWrong?: boolean } = {}): Promise<string> {
    const known = this.agent.lastState.value?.devtools_path
    // A client may have closed Chromium, which then takes others in for some moments before it ends.
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

  /** Whether something runs in it that was started past this server, as through a tunnel. */
  async look(): Promise<void> {
    await readState(this.agent, { signal: this.ending })
  }

  #onInstanceEnd(end: InstanceEnd): void {
    const isOwnEnd = this.ending.aborted
    if (!isOwnEnd && end === 'out-of-memory') this.publish(outOfMemory(this.instance.lastOomKill))
    if (!isOwnEnd && end === 'ended-by-itself') {
      this.publish({ type: 'service_crashed', data: { service_name: 'instance', phase: 'running' } })
    }
    this.end(reasonOf[end])
  }

  /** The first reason counts. What is left to do is in the hands of the owner. */
  end(reason: EndReason): void {
    if (this.#ending.signal.aborted) return
    clearTimeout(this.#idleTimer)
    this.#standby.close()
    this.#ending.abort(new SessionEnded(reason))
    this.#leased?.end(reason)
    // Its lease goes on: something may still be wanted of the instance.
    this.agent.endWork()
    this.#onEnd(this, reason)
  }

  /** Stops watching it without ending it, for a server that stops and leaves it to the next one. */
  release(): void {
    this.#programs.close()
    clearTimeout(this.#idleTimer)
    this.#standby.close()
    this.agent.close()
  }

  /** Only for who holds it, or it may fall asleep again at once. */
  async #wake(): Promise<void> {
    await this.#standby.wake()
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

/** What an instance that ended by itself means for its session; one that was ended has its reason before. */
const reasonOf: Readonly<Record<InstanceEnd, EndReason>> = {
  destroyed: 'crashed',
  'ended-by-itself': 'crashed',
  'out-of-memory': 'out_of_memory',
  'lease-lapsed': 'lost',
}

/** What the kernel told of it, where that can be read. */
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
