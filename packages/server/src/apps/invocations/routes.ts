import * as contract from '@berth/contracts/invocations'
import { callerOf } from '../../sessions/browsers/routes.ts'
import type { Browser } from '@berth/contracts/browsers'
import type { Caller } from '../../sessions/browsers/service.ts'
import type { BrowserRecord } from '../../sessions/browsers/types.ts'
import type { Db } from '../../platform/database/schema.ts'
import { route, type Route } from '../../http/call.ts'
import type { InvocationService } from './service.ts'

/** A session as the API shows it. */
export type ShowBrowser = (db: Db, record: BrowserRecord, caller: Caller) => Promise<Browser>

export function invocationRoutes(invocations: InvocationService, show: ShowBrowser): Route[] {
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
  ]
}
