// The browser as a login sees it. The server has one over the agent of a session, tests have one of their own.
import type { ActOrder, ActResult, LookOrder, PageSight, VisitOrder } from '@berth/contracts/login-sight'

export interface Hands {
  look(order: LookOrder, signal: AbortSignal): Promise<PageSight>
  visit(order: VisitOrder, signal: AbortSignal): Promise<PageSight>
  act(order: ActOrder, signal: AbortSignal): Promise<ActResult>
  /** From now on nothing that is recorded of the session has these values. Before each is typed. */
  hide(values: readonly string[]): Promise<void>
}
