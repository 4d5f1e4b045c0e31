// A pooled browser as one lease holder sees it. All lease holders use the same session, one after another; for each
// of them it ends with the lease.
import type { Duplex } from 'node:stream'
import type { EndReason } from '@berth/contracts/browsers'
import type { LinkPurpose } from '@berth/contracts/link'
import type { AgentClient } from '../../instances/agent/client.ts'
import type { OwnEvent } from '../session/own-event.ts'
import {
  SessionEnded,
  type AgentLoan,
  type Hold,
  type HoldOptions,
  type Session,
} from '../session/session.ts'

/** The lease of a pooled browser, from its row. */
export interface CurrentLease {
  /** Grows with each start and each end of a lease. */
  readonly number: number
  /** Whether the browser waits in its pool. */
  readonly isIdle: boolean
}

export interface PooledSession extends Session {
  look(): Promise<void>
  /** Connects to the agent without holding or waking the session. Throws OnStandby. */
  connectAside(signal: AbortSignal): Promise<Duplex>
}

export class LeasedSession implements PooledSession {
  readonly leaseNumber: number
  readonly isIdle: boolean
  readonly #session: PooledSession
  readonly #ending = new AbortController()

  constructor(session: PooledSession, { number, isIdle }: CurrentLease) {
    this.#session = session
    this.leaseNumber = number
    this.isIdle = isIdle
  }

  get id(): string {
    return this.#session.id
  }

  get projectId(): string {
    return this.#session.projectId
  }

  get ending(): AbortSignal {
    return this.#ending.signal
  }

  hold(options?: HoldOptions): Hold {
    return this.#session.hold(options)
  }

  stayAwake(): Disposable {
    return this.#session.stayAwake()
  }

  connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Duplex> {
    return this.#session.connect(purpose, AbortSignal.any([signal, this.ending]))
  }

  async preparedClient(): Promise<Duplex | undefined> {
    return this.#session.preparedClient?.()
  }

  devtoolsPath(options?: { isKnownWrong?: boolean }): Promise<string> {
    return this.#session.devtoolsPath(options)
  }

  async lend(): Promise<AgentLoan> {
    const loan = await this.#session.lend()
    if (!this.ending.aborted) return loan
    loan[Symbol.dispose]()
    throw this.ending.reason as Error
  }

  peek(): AgentClient {
    this.ending.throwIfAborted()
    return this.#session.peek()
  }

  connectAside(signal: AbortSignal): Promise<Duplex> {
    return this.#session.connectAside(AbortSignal.any([signal, this.ending]))
  }

  publish(event: OwnEvent): void {
    this.#session.publish(event)
  }

  look(): Promise<void> {
    return this.#session.look()
  }

  /** The first reason counts. */
  end(reason: EndReason): void {
    this.#ending.abort(new SessionEnded(reason))
  }
}
