// The real login engine: the rules, applied to a session's browser.
import { checkSession } from '@berth/login/check/check'
import { login } from '@berth/login/engine/login'
import type { LoginEngine } from '../connections/engine.ts'
import { AgentPageActions } from './agent-page-actions.ts'

export const agentLogins: LoginEngine = {
  pageActionsOf: (session) => new AgentPageActions(session),
  runLogin: login,
  runCheck: checkSession,
}
