// A session as its users see it, on this server or another one.
import type { Duplex } from 'node:stream'
import type { EndReason } from '@berth/contracts/browsers'
import type { LinkPurpose } from '@berth/contracts/link'
import type { AgentClient } from '../../instances/agent/client.ts'
import type { OwnEvent } from './own-event.ts'

export interface HoldOptions {
  /** Allows standby under this hold when there is no traffic, if the session was created with standby_after_seconds. */
  readonly maySleep?: boolean
}

/** Keeps a session awake and from timing out until disposed. */
export interface Hold extends Disposable {
  /** Reports traffic, which restarts the standby delay and ends standby. */
  stir(): void
}

export interface Session {
  readonly id: string
  readonly projectId: string
  /** Grows with each start and each end of a lease; 0 without a pool. */
  readonly leaseNumber: number
  /** Aborts with a SessionEnded when the session ends. */
  readonly ending: AbortSignal
  hold(options?: HoldOptions): Hold
  /** Holds the session on any server without opening a connection into it. */
  stayAwake(): Disposable
  /** Wakes the instance and connects to it. The caller must hold the session. */
  connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Duplex>
  /**
   * A websocket to the whole browser that was opened before its client came, at most once: a paused stream, before its first
   * frame. The caller must hold the session.
   */
  preparedClient?(): Promise<Duplex | undefined>
  /** Path of Chromium's browser-wide websocket, which changes with each start of Chromium. */
  devtoolsPath(options?: { isKnownWrong?: boolean }): Promise<string>
  /** Gives access to the agent and keeps the session awake until the loan is disposed. */
  lend(): Promise<AgentLoan>
  /**
   * The agent, for watching only: neither this nor calling it holds the session or wakes it. Throws OnStandby, or a call
   * fails because of it.
   */
  peek(): AgentClient
  /** Adds an event to the session's telemetry, if its category is captured. */
  publish(event: OwnEvent): void
}

export interface AgentLoan extends Disposable {
  readonly agent: AgentClient
}

/** Runs `work` with the session's agent and keeps the session awake until it is done. */
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

/** The instance is frozen, and the caller may not wake it. */
export class OnStandby extends Error {
  constructor() {
    super('The session is on standby')
  }
}

/** Whether this failed because of standby. */
export function isOnStandby(error: unknown): boolean {
  if (error instanceof OnStandby) return true
  return error instanceof Error && error.cause !== undefined && isOnStandby(error.cause)
}
