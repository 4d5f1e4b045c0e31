// The table of all operations. The server serves no others.
import * as apiKeys from './api-keys.ts'
import * as apps from './apps.ts'
import * as auditExports from './audit-exports.ts'
import * as auditLogs from './audit-logs.ts'
import * as authAgents from './auth-agents.ts'
import * as authConnections from './auth-connections.ts'
import * as authContext from './auth-context.ts'
import * as browserPools from './browser-pools.ts'
import * as browsers from './browsers.ts'
import * as changes from './changes.ts'
import * as computer from './computer.ts'
import * as credentialProviders from './credential-providers.ts'
import * as credentials from './credentials.ts'
import * as curl from './curl.ts'
import * as devtools from './devtools.ts'
import * as entitlements from './entitlements.ts'
import * as extensions from './extensions.ts'
import * as deployments from './deployments.ts'
import * as files from './files.ts'
import * as handovers from './handovers.ts'
import * as invocations from './invocations.ts'
import * as liveView from './live-view.ts'
import * as logs from './logs.ts'
import { isOperation, type Operation } from './operation.ts'
import * as organization from './organization.ts'
import * as overview from './overview.ts'
import * as playwright from './playwright.ts'
import * as previews from './previews.ts'
import * as processes from './processes.ts'
import * as profiles from './profiles.ts'
import * as projects from './projects.ts'
import * as proxies from './proxies.ts'
import * as repl from './repl.ts'
import * as replays from './replays.ts'
import * as sessionImport from './session-import.ts'
import * as signIn from './sign-in.ts'
import * as system from './system.ts'
import * as telemetry from './telemetry.ts'
import * as webMcp from './webmcp.ts'
import * as telemetryDestinations from './telemetry-destinations.ts'
import * as webhooks from './webhooks.ts'

export const operations: readonly Operation[] = [
  browsers,
  overview,
  browserPools,
  liveView,
  handovers,
  previews,
  devtools,
  computer,
  files,
  processes,
  logs,
  playwright,
  repl,
  webMcp,
  curl,
  extensions,
  replays,
  telemetry,
  telemetryDestinations,
  profiles,
  credentials,
  credentialProviders,
  proxies,
  authConnections,
  sessionImport,
  authAgents,
  deployments,
  apps,
  invocations,
  webhooks,
  projects,
  organization,
  entitlements,
  changes,
  apiKeys,
  authContext,
  signIn,
  auditLogs,
  auditExports,
  system,
]
  .flatMap((module) => Object.values(module) as unknown[])
  .filter(isOperation)
