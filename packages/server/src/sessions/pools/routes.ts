import * as contract from '@berth/contracts/browser-pools'
import { callerOf } from '../browsers/routes.ts'
import { route, type Route } from '../../http/call.ts'
import type { Leases } from './leases.ts'
import type { PoolService } from './service.ts'

export function poolRoutes(pools: PoolService, leases: Leases): Route[] {
  return [
    route(contract.createBrowserPool, (call) => pools.create(call.db, callerOf(call), call.body)),
    route(contract.listBrowserPools, (call) => pools.list(call.db, callerOf(call), call.query)),
    route(contract.getBrowserPool, (call) => pools.get(call.db, callerOf(call), call.params.id)),
    route(contract.updateBrowserPool, (call) =>
      pools.update(call.db, callerOf(call), call.params.id, call.body),
    ),
    route(contract.deleteBrowserPool, (call) =>
      pools.delete(call.db, callerOf(call), call.params.id, { force: call.body.force ?? false }),
    ),
    route(contract.acquireBrowser, async (call) => {
      const caller = callerOf(call)
      const pool = await pools.find(call.db, caller, call.params.id)
      return leases.acquire(caller, pool, call.body, {
        commit: call.commit,
        signal: call.signal,
        whenOver: (listener) => call.whenOver(listener),
        isRepeatable: call.headers['idempotency-key'] !== undefined,
      })
    }),
    route(contract.releaseBrowser, async (call) => {
      const caller = callerOf(call)
      const pool = await pools.find(call.db, caller, call.params.id)
      await leases.release(caller, pool, call.body, call.commit)
    }),
    route(contract.flushBrowserPool, (call) => pools.flush(call.db, callerOf(call), call.params.id)),
  ]
}
