// A browser of a pool in the hands of one of those who have it one after another. It is the same session for
// all of them; for each it ends when their turn does.
import type { Duplex } from 'node:stream'
import type { EndReason } from '@berth/contracts/browsers'
import type { LinkPurpose } from '@berth/contracts/link'
import type { OwnEvent } from '../session/own-event.ts'
import {
  SessionEnded,
  type AgentLoan,
  type Hold,
  type HoldOptions,
  type Session,
} from '../session/session.ts'

/** Where a browser of a pool stands, as its row has it. */
export interface Tenure {
  readonly number: number
  /** It waits in its pool, and nobody has it. */
  readonly isIdle: boolean
}

export interface PooledSession extends Session {
  look(): Promise<void>
}

export class Turn implements PooledSession {
  readonly tenure: number
  readonly isIdle: boolean
  readonly #session: PooledSession
  readonly #ending = new AbortController()

  constructor(session: PooledSession, { number, isIdle }: Tenure) {
    this.#session = session
    this.tenure = number
    this.isIdle = isIdle
  }

  get id(): string {
    return this.#session.id
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

  devtoolsPath(options?: { isKnownWrong?: boolean }): Promise<string> {
    return this.#session.devtoolsPath(options)
  }

  async lend(): Promise<AgentLoan> {
    const loan = await this.#session.lend()
    if (!this.ending.aborted) return loan
    loan[Symbol.dispose]()
    throw this.ending.reason as Error
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
