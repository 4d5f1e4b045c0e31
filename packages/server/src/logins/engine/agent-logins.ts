// Logins as they really are: the rules, over the browser of a session.
import { checkSession } from '@berth/login/check'
import { login } from '@berth/login/login'
import type { LoginEngine } from '../connections/engine.ts'
import { AgentHands } from './agent-hands.ts'

export const agentLogins: LoginEngine = {
  handsOf: (session) => new AgentHands(session),
  runLogin: login,
  runCheck: checkSession,
}
