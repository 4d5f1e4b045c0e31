// Logins as they really are: the rules, over the browser of a session.
import type { LoginEngine } from '../auth-connections/engine.ts'
import { fakeLogins } from '../runtime/fake/fake-logins.ts'
import { AgentHands } from './agent-hands.ts'

export const agentLogins: LoginEngine = { ...fakeLogins, handsOf: (session) => new AgentHands(session) }
