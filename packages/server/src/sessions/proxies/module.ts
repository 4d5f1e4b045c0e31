// Assembles the upstream proxies of sessions.
import type { Route } from '../../http/call.ts'
import { directOptions } from '../../instances/module.ts'
import type { Platform } from '../../platform/module.ts'
import { findDefaultProject } from '../../tenancy/projects/store.ts'
import { Providers } from './providers.ts'
import { proxyRoutes } from './routes.ts'
import { ProxyService } from './service.ts'
import { SessionProxies } from './session-proxies.ts'
import type { ProxyUse } from './types.ts'
import { ProxyUpstreams } from './upstreams.ts'

export interface ProxiesModule {
  readonly sessionProxies: SessionProxies
  readonly routes: readonly Route[]
}

export function newProxies({ config, db, box }: Platform, uses: readonly ProxyUse[]): ProxiesModule {
  const providers = new Providers(config.BERTH_PROXY_PROVIDERS)
  const upstreams = new ProxyUpstreams({ box, providers })
  const service = new ProxyService({
    db,
    direct: directOptions(config),
    providers,
    upstreams,
    checkUrls: config.BERTH_PROXY_CHECK_URLS,
    uses,
    defaultProject: findDefaultProject,
  })
  return { sessionProxies: new SessionProxies({ db, upstreams }), routes: proxyRoutes(service) }
}
