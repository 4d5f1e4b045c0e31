// A session as its users see it, on this server or on another.
import type { Duplex } from 'node:stream'
import type { EndReason } from '@berth/contracts/browsers'
import type { LinkPurpose } from '@berth/contracts/link'
import type { AgentClient } from '../../instances/agent/client.ts'
import type { OwnEvent } from './own-event.ts'

export interface HoldOptions {
  /** It may go on standby under this hold when nothing stirs, if the session was made so. */
  readonly maySleep?: boolean
}

/** Keeps a session from timing out, and awake, until disposed. */
export interface Hold extends Disposable {
  /** Something passes: the silence is over, and so is standby. */
  stir(): void
}

export interface Session {
  readonly id: string
  /** Counts the leases of a pooled browser, and their ends; 0 without a pool. */
  readonly leaseNumber: number
  /** Fires when the session ends, with a SessionEnded. */
  readonly ending: AbortSignal
  hold(options?: HoldOptions): Hold
  /** Holds it without a connection into it, on whichever server it is. */
  stayAwake(): Disposable
  /** A connection into the instance, awake by the time it is there. The caller holds the session. */
  connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Duplex>
  /** Path of Chromium's browser-wide websocket, another one after each start of Chromium. */
  devtoolsPath(options?: { isKnownWrong?: boolean }): Promise<string>
  /** Its agent, with the session awake until the loan is disposed. */
  lend(): Promise<AgentLoan>
  /** Tells whoever follows the session, if they want to know of such. */
  publish(event: OwnEvent): void
}

export interface AgentLoan extends Disposable {
  readonly agent: AgentClient
}

/** Asks the agent of a session for something, and keeps the session awake meanwhile. */
export async function awake<T>(session: Session, work: (agent: AgentClient) => Promise<T>): Promise<T> {
  using loan = await session.lend()
  return await work(loan.agent)
}

export class SessionEnded extends Error {
  readonly reason: EndReason

  constructor(reason: EndReason) {
    super(`The session has ended: ${reason}`)
    this.reason = reason
  }
}
