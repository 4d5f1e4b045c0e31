import * as contract from '@berth/contracts/invocations'
import type { LockOf } from '../apps/lock.ts'
import type { AppStreams } from '../apps/stream.ts'
import { callerOf } from '../browsers/routes.ts'
import type { BrowserView } from '../browsers/view.ts'
import { route, type Route } from '../http/call.ts'
import type { InvocationService } from './service.ts'

export interface InvocationRouteOptions {
  readonly streams: AppStreams
  readonly lockOf: LockOf
  readonly view: BrowserView
}

export function invocationRoutes(
  invocations: InvocationService,
  { streams, lockOf, view }: InvocationRouteOptions,
): Route[] {
  return [
    route(contract.createInvocation, (call) => invocations.create(call, call.body, call)),
    route(contract.listInvocations, (call) => invocations.list(call, call.query)),
    route(contract.getInvocation, (call) => invocations.get(call, call.params.id)),
    route(contract.updateInvocation, (call) =>
      invocations.update(call, call.params.id, call.body, call.commit),
    ),
    route(contract.listInvocationBrowsers, (call) =>
      invocations.browsers(call, call.params.id, (record) => view.show(record, callerOf(call))),
    ),
    route(contract.deleteInvocationBrowsers, (call) =>
      invocations.deleteBrowsers(call, call.params.id, call.commit),
    ),
    route(contract.followInvocation, async (call) => {
      const record = await invocations.find(call, call.params.id)
      return { body: streams.ofInvocation(record, await lockOf(record.deployment_id), call.query.since) }
    }),
  ]
}
