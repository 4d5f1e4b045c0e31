import * as contract from '@berth/contracts/proxies'
import { route, type Route } from '../../http/call.ts'
import type { ProxyService } from './service.ts'

export function proxyRoutes(proxies: ProxyService): Route[] {
  return [
    route(contract.createProxy, (call) => proxies.create(call.db, call, call.body)),
    route(contract.listProxies, (call) => proxies.list(call.db, call, call.query)),
    route(contract.getProxy, (call) => proxies.get(call.db, call, call.params.id)),
    route(contract.updateProxy, (call) => proxies.rename(call.db, call, call.params.id, call.body.name)),
    route(contract.deleteProxy, (call) => proxies.delete(call.db, call, call.params.id)),
    route(contract.checkProxy, (call) =>
      proxies.check(call, call.params.id, { url: call.body.url, signal: call.signal }, call.commit),
    ),
  ]
}
