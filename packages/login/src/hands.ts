// The browser as a login sees it. The server has one over the agent of a session, tests have one of their own.
import type { ActOrder, ActResult, LookOrder, PageSight, VisitOrder } from '@berth/contracts/login-sight'

export interface Hands {
  look(order: LookOrder, signal: AbortSignal): Promise<PageSight>
  visit(order: VisitOrder, signal: AbortSignal): Promise<PageSight>
  act(order: ActOrder, signal: AbortSignal): Promise<ActResult>
  /** From now on nothing that is recorded of the session has these values. Before each is typed. */
  hide(values: readonly string[]): Promise<void>
}

/** What was lost: Chromium, which may be there again; the session, which is over; or the way to it. */
export type LostPart = 'browser' | 'session' | 'agent'

/** The browser cannot be used any more, or not for now. Hands reject with it, and with nothing else but the signal's reason. */
export class HandsLost extends Error {
  override readonly name = 'HandsLost'
  readonly part: LostPart

  constructor(part: LostPart, message: string, options?: ErrorOptions) {
    super(message, options)
    this.part = part
  }
}
