// The browser as a login sees it. The server has one over the agent of a session, tests have one of their own.
import type { ActOrder, ActResult, LookOrder, PageSnapshot, VisitOrder } from '@berth/contracts/page-snapshot'

export interface PageActions {
  look(order: LookOrder, signal: AbortSignal): Promise<PageSnapshot>
  visit(order: VisitOrder, signal: AbortSignal): Promise<PageSnapshot>
  act(order: ActOrder, signal: AbortSignal): Promise<ActResult>
  /** From now on nothing that is recorded of the session has these values. Before each is typed. */
  hide(values: readonly string[]): Promise<void>
}

/** What was lost: Chromium, which may be there again; the session, which is over; or the way to it. */
export type UnavailablePart = 'browser' | 'session' | 'agent'

/** The browser cannot be used any more, or not for now. PageActions reject with it, and with nothing else but the signal's reason. */
export class BrowserUnavailable extends Error {
  override readonly name = 'BrowserUnavailable'
  readonly part: UnavailablePart

  constructor(part: UnavailablePart, message: string, options?: ErrorOptions) {
    super(message, options)
    this.part = part
  }
}
