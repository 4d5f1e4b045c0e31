import * as contract from '@berth/contracts/auth-connections'
import { importSession } from '@berth/contracts/session-import'
import { unlessAborted } from '@berth/kit/abort'
import { callerOf } from '../../sessions/browsers/routes.ts'
import { route, type Route } from '../../http/call.ts'
import type { FlowEvents } from './events.ts'
import type { HealthChecks } from './health-checks.ts'
import { placeOf, type ConnectionService } from './service.ts'

export function connectionRoutes(
  connections: ConnectionService,
  { events, checks }: { events: FlowEvents; checks: HealthChecks },
): Route[] {
  return [
    route(contract.createConnection, (call) => connections.create(call.db, callerOf(call), call.body)),
    route(contract.listConnections, (call) => connections.list(call.db, callerOf(call), call.query)),
    route(contract.getConnection, (call) => connections.get(call.db, callerOf(call), call.params.id)),
    route(contract.updateConnection, (call) =>
      connections.update(call.db, callerOf(call), call.params.id, call.body),
    ),
    route(contract.deleteConnection, (call) => connections.delete(call.db, callerOf(call), call.params.id)),
    route(contract.login, (call) => connections.login(call.db, callerOf(call), call.params.id, call.body)),
    route(importSession, (call) =>
      connections.importSession(call.db, callerOf(call), call.params.id, call.body),
    ),
    route(contract.submit, (call) => connections.submit(call.db, callerOf(call), call.params.id, call.body)),
    route(contract.followConnection, async (call) => {
      const caller = callerOf(call)
      const { id } = await connections.find(call.db, caller, call.params.id)
      return { body: events.follow(id, placeOf(caller)) }
    }),
    route(contract.listTimeline, (call) =>
      connections.timeline(call.db, callerOf(call), call.params.id, call.query),
    ),
    route(contract.explainLogin, (call) =>
      connections.explain(call.db, callerOf(call), call.params.id, {
        entryId: call.params.event_id,
        withPages: call.query.pages === true,
      }),
    ),
    route(contract.getStepPicture, async (call) => {
      const { id, event_id: entryId, number } = call.params
      const svg = await connections.picture(call.db, callerOf(call), id, { entryId, number: Number(number) })
      // It is ours, and shown as a picture. Opened by itself, it may load nothing.
      const policy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"
      return { body: Buffer.from(svg), headers: { 'content-security-policy': policy } }
    }),
    route(contract.cancelLogin, (call) => connections.cancel(call.db, callerOf(call), call.params.id)),
    route(contract.checkConnection, async (call) => {
      const caller = callerOf(call)
      const connection = await connections.find(call.db, caller, call.params.id)
      // The check continues when the caller leaves; its result is stored with the connection.
      await unlessAborted(checks.checkNow(connection), call.signal)
      return call.commit((tx) => connections.get(tx, caller, call.params.id))
    }),
    route(contract.exchangeHandoff, (call) => connections.exchange(call.db, call.params.id, call.body.code)),
  ]
}
