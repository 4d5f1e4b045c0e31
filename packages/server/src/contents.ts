// Everything a project can contain. A project can be deleted only when it contains none of it.
import { countLiveDeployments } from './apps/deployments/store.ts'
import { countConnections } from './logins/connections/store.ts'
import { countCredentials } from './logins/credentials/store.ts'
import { countLiveBrowsers } from './sessions/browsers/store.ts'
import { countExtensions } from './sessions/extensions/store.ts'
import { countLivePools } from './sessions/pools/store.ts'
import { countProfiles } from './sessions/profiles/store.ts'
import { countLiveProxies } from './sessions/proxies/store.ts'
import { countDestinations } from './sessions/telemetry/export/store.ts'
import type { ProjectContent } from './tenancy/projects/types.ts'

export const contents: readonly ProjectContent[] = [
  { what: 'browser pools', countIn: countLivePools },
  { what: 'browser sessions', countIn: countLiveBrowsers },
  { what: 'proxies', countIn: countLiveProxies },
  { what: 'telemetry destinations', countIn: countDestinations },
  { what: 'auth connections', countIn: countConnections },
  { what: 'credentials', countIn: countCredentials },
  { what: 'extensions', countIn: countExtensions },
  { what: 'profiles', countIn: countProfiles },
  { what: 'deployments', countIn: countLiveDeployments },
]
