import * as contract from '@berth/contracts/browsers'
import { route, type Call, type Route } from '../../http/call.ts'
import { ageOf } from '../telemetry/selection.ts'
import type { BrowserService, Caller } from './service.ts'

export const callerOf = ({ principal, projectId, origin, headers }: Call<unknown>): Caller => ({
  principal,
  projectId,
  origin,
  telemetryAge: ageOf(headers),
})

export function browserRoutes(browsers: BrowserService): Route[] {
  return [
    route(contract.createBrowser, (call) => browsers.create(callerOf(call), call.body, call)),
    route(contract.listBrowsers, (call) => browsers.list(callerOf(call), call.query)),
    route(contract.getBrowser, (call) =>
      browsers.get(callerOf(call), call.params.id, { includeDeleted: call.query.include_deleted ?? false }),
    ),
    route(contract.updateBrowser, (call) => browsers.update(callerOf(call), call.params.id, call.body, call)),
    route(contract.deletePersistentBrowser, () => {}),
    route(contract.deleteBrowser, (call) =>
      browsers.delete(callerOf(call), call.params.id, call, {
        leaseId: call.query.lease_id,
        revokesReplayLinks: call.query.revoke_replay_links ?? false,
      }),
    ),
  ]
}
