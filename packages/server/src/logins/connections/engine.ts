// The seam between flows and what goes through pages: the rules, and the browser they see through.
import type { PageActions } from '@berth/login/page-actions'
import type { Checks } from '@berth/login/memory'
import type { CheckOutcome, LoginOptions, LoginOutcome } from '@berth/login/run'
import type { Session } from '../../sessions/session/session.ts'

export interface CheckOptions {
  readonly pageActions: PageActions
  readonly domain: string
  readonly allowedDomains: readonly string[]
  readonly checks: Checks
  readonly loginUrl: string | undefined
  readonly signal: AbortSignal
}

export interface LoginEngine {
  pageActionsOf(session: Session): PageActions & Disposable
  /** Reject only when the signal fires or the browser does not do as it should. */
  runLogin(options: LoginOptions): Promise<LoginOutcome>
  runCheck(options: CheckOptions): Promise<CheckOutcome>
}
