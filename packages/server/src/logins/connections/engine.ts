// The interface between login flows and the login engine, which applies the rules in a browser.
import type { PageActions } from '@berth/login/run/page-actions'
import type { Checks } from '@berth/login/run/memory'
import type { CheckOutcome, LoginOptions, LoginOutcome } from '@berth/login/run/run'
import type { ExplainedStep } from '@berth/login/run/step'
import type { Session } from '../../sessions/session/session.ts'

export interface CheckOptions {
  readonly pageActions: PageActions
  readonly domain: string
  readonly allowedDomains: readonly string[]
  readonly checks: Checks
  readonly loginUrl: string | undefined
  readonly onStep: (step: ExplainedStep) => void
  readonly signal: AbortSignal
}

export interface LoginEngine {
  pageActionsOf(session: Session): PageActions & Disposable
  /** Rejects only when the signal fires or the browser fails. */
  runLogin(options: LoginOptions): Promise<LoginOutcome>
  runCheck(options: CheckOptions): Promise<CheckOutcome>
}
