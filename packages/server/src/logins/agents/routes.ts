import * as contract from '@berth/contracts/auth-agents'
import { callerOf } from '../../sessions/browsers/routes.ts'
import { route, type Route } from '../../http/call.ts'
import type { AuthAgents } from './service.ts'

export function authAgentRoutes(agents: AuthAgents): Route[] {
  return [
    route(contract.createAuthAgent, (call) => agents.create(call.db, callerOf(call), call.body)),
    route(contract.listAuthAgents, (call) => agents.list(call.db, callerOf(call), call.query)),
    route(contract.getAuthAgent, (call) => agents.get(call.db, callerOf(call), call.params.id)),
    route(contract.deleteAuthAgent, (call) => agents.delete(call.db, callerOf(call), call.params.id)),
    route(contract.createAuthInvocation, (call) => agents.invoke(call.db, callerOf(call), call.body)),
    route(contract.getAuthInvocation, (call) =>
      agents.invocation(call.db, callerOf(call), call.params.invocation_id),
    ),
    route(contract.exchangeAuthInvocation, (call) =>
      agents.exchange(call.db, call.params.invocation_id, call.body.code),
    ),
    route(contract.submitAuthInvocation, (call) =>
      agents.submit(call.db, callerOf(call), call.params.invocation_id, call.body),
    ),
  ]
}
