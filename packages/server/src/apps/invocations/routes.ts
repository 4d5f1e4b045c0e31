import * as contract from '@berth/contracts/invocations'
import type { LockOf } from '../core/lock.ts'
import type { AppStreams } from '../core/stream.ts'
import { callerOf } from '../../sessions/browsers/routes.ts'
import type { Browser } from '@berth/contracts/browsers'
import type { Caller } from '../../sessions/browsers/service.ts'
import type { BrowserRecord } from '../../sessions/browsers/types.ts'
import type { Db } from '../../platform/database/schema.ts'
import { route, type Route } from '../../http/call.ts'
import type { InvocationService } from './service.ts'

/** A session as the API shows it. */
export type ShowBrowser = (db: Db, record: BrowserRecord, caller: Caller) => Promise<Browser>

export interface InvocationRouteOptions {
  readonly streams: AppStreams
  readonly lockOf: LockOf
  readonly show: ShowBrowser
}

export function invocationRoutes(
  invocations: InvocationService,
  { streams, lockOf, show }: InvocationRouteOptions,
): Route[] {
  return [
    route(contract.createInvocation, (call) => invocations.create(call, call.body, call)),
    route(contract.listInvocations, (call) => invocations.list(call, call.query)),
    route(contract.getInvocation, (call) => invocations.get(call, call.params.id)),
    route(contract.updateInvocation, (call) =>
      invocations.update(call, call.params.id, call.body, call.commit),
    ),
    route(contract.listInvocationBrowsers, (call) =>
      invocations.browsers(call, call.params.id, (record) => show(call.db, record, callerOf(call))),
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
