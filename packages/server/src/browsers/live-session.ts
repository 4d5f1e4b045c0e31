// One session on this server: who holds it awake, how long it has run, and how it ends. A session that
// nobody holds is put on standby after a moment, and ends when its timeout is over.
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import type { EndReason } from '@berth/contracts/browsers'
import type { LinkPurpose } from '@berth/contracts/link'
import type { AgentClient } from '../runtime/agent-client.ts'
import type { Instance } from '../runtime/driver.ts'

export interface LiveSessionOptions {
  readonly id: string
  readonly instance: Instance
  readonly agent: AgentClient
  readonly timeoutSeconds: number
  /** Milliseconds without a hold until it is frozen; null: never. */
  readonly standbyAfterMs: number | null
  readonly uptimeMs: number
  readonly log: Logger
  /** Called once, when the session is to end or has ended by itself. */
  readonly onEnd: (session: LiveSession, reason: EndReason) => void
}

export class LiveSession {
  readonly id: string
  readonly instance: Instance
  readonly agent: AgentClient
  readonly #log: Logger
  readonly #onEnd: LiveSessionOptions['onEnd']
  readonly #ending = new AbortController()
  readonly #standbyAfterMs: number | null
  #timeoutMs: number
  #holds = 0
  #idleSince = performance.now()
  #idleTimer: NodeJS.Timeout | undefined
  #standbyTimer: NodeJS.Timeout | undefined
  /** Freezing and thawing take turns, in the order they were asked for. */
  #switching: Promise<void> = Promise.resolve()
  #uptimeMs: number
  #runningSince: number | undefined = performance.now()

  constructor(options: LiveSessionOptions) {
    this.id = options.id
    this.instance = options.instance
    this.agent = options.agent
    this.#log = options.log
    this.#onEnd = options.onEnd
    this.#timeoutMs = options.timeoutSeconds * 1000
    this.#standbyAfterMs = options.standbyAfterMs
    this.#uptimeMs = options.uptimeMs
    void options.instance.ended.then((end) => this.end(end === 'out-of-memory' ? 'out_of_memory' : 'crashed'))
    this.#becomeIdle()
  }

  /** Fires when the session ends, with its reason. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  get uptimeMs(): number {
    const running = this.#runningSince === undefined ? 0 : performance.now() - this.#runningSince
    return Math.round(this.#uptimeMs + running)
  }

  set timeoutSeconds(seconds: number) {
    this.#timeoutMs = seconds * 1000
    if (this.#holds === 0) this.#setIdleTimer()
  }

  /** Keeps the session awake and its timeout from running until disposed. */
  hold(): Disposable {
    this.#holds++
    clearTimeout(this.#idleTimer)
    clearTimeout(this.#standbyTimer)
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        this.#holds--
        if (this.#holds === 0) this.#becomeIdle()
      },
    }
  }

  /** A connection into the instance, awake by the time it is there. The caller holds the session. */
  async connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Duplex> {
    await this.wake()
    return this.instance.connect(purpose, AbortSignal.any([signal, this.ending]))
  }

  /** Where Chromium's websocket is just now; it is another after Chromium was started again. */
  async devtoolsPath({ isKnownWrong = false }: { isKnownWrong?: boolean } = {}): Promise<string> {
    const known = this.agent.lastState?.devtools_path
    if (known && !isKnownWrong) return known
    await this.wake()
    const { devtools_path } = await this.agent.startedState(this.ending)
    return devtools_path
  }

  /** Does something in it that keeps it awake, and wakes it first. */
  async awake<T>(work: () => Promise<T>): Promise<T> {
    const held = this.hold()
    try {
      await this.wake()
      return await work()
    } finally {
      held[Symbol.dispose]()
    }
  }

  /** Resolves when it runs. Only for who holds it, or it may fall asleep again at once. */
  async wake(): Promise<void> {
    await this.#switch(() => this.#thaw())
    this.ending.throwIfAborted()
  }

  /** The first reason counts. What is left to do is in the hands of the owner. */
  end(reason: EndReason): void {
    if (this.#ending.signal.aborted) return
    clearTimeout(this.#idleTimer)
    clearTimeout(this.#standbyTimer)
    this.#stopClock()
    this.#ending.abort(new SessionEnded(reason))
    this.agent.close()
    this.#onEnd(this, reason)
  }

  /** Stops watching it without ending it, for a server that stops and leaves it to the next one. */
  release(): void {
    clearTimeout(this.#idleTimer)
    clearTimeout(this.#standbyTimer)
    this.agent.close()
  }

  #becomeIdle(): void {
    if (this.ending.aborted) return
    this.#idleSince = performance.now()
    this.#setIdleTimer()
    if (this.#standbyAfterMs === null) return
    this.#standbyTimer = setTimeout(() => {
      this.#switch(() => this.#freeze()).catch((error: unknown) =>
        this.#log.warn({ err: error, sessionId: this.id }, 'cannot put a session on standby'),
      )
    }, this.#standbyAfterMs)
  }

  #setIdleTimer(): void {
    clearTimeout(this.#idleTimer)
    const left = this.#idleSince + this.#timeoutMs - performance.now()
    this.#idleTimer = setTimeout(() => this.end('timed_out'), Math.max(0, left))
  }

  #switch(change: () => Promise<void>): Promise<void> {
    const done = this.#switching.then(change)
    this.#switching = done.catch(() => {})
    return done
  }

  async #freeze(): Promise<void> {
    if (this.#holds > 0 || this.ending.aborted || this.instance.isFrozen) return
    await this.instance.freeze()
    this.#stopClock()
  }

  async #thaw(): Promise<void> {
    if (!this.instance.isFrozen || this.ending.aborted) return
    await this.instance.thaw()
    this.#runningSince = performance.now()
  }

  #stopClock(): void {
    this.#uptimeMs = this.uptimeMs
    this.#runningSince = undefined
  }
}

export class SessionEnded extends Error {
  readonly reason: EndReason

  constructor(reason: EndReason) {
    super(`The session has ended: ${reason}`)
    this.reason = reason
  }
}
