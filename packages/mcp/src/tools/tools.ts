// All tools, in the order in which clients show them.
import type { Tool } from '../core/tool.ts'
import { manageBrowsers } from './browsers.ts'
import { computerAction } from './computer.ts'
import { getConnectionContext } from './connection.ts'
import { searchDocs } from './docs.ts'
import { manageBrowserFiles } from './files.ts'
import { handOverToHuman } from './handover.ts'
import { manageAuthConnections, manageCredentialProviders, manageCredentials } from './logins.ts'
import { pageActingTools } from './page-acting.ts'
import { pageEventTools } from './page-events.ts'
import { pageReadingTools } from './page-reading.ts'
import { manageBrowserPools } from './pools.ts'
import { manageProfiles } from './profiles.ts'
import { manageReplays } from './replays.ts'
import { manageApiKeys, manageApps, manageExtensions, manageProjects, manageProxies } from './resources.ts'
import { sessionTools } from './session-tools.ts'

export const tools: readonly Tool[] = [
  manageBrowsers,
  ...pageActingTools,
  ...pageReadingTools,
  ...pageEventTools,
  handOverToHuman,
  computerAction,
  ...sessionTools,
  manageBrowserFiles,
  manageReplays,
  manageProfiles,
  manageBrowserPools,
  manageProxies,
  manageExtensions,
  manageAuthConnections,
  manageCredentials,
  manageCredentialProviders,
  manageApps,
  manageProjects,
  manageApiKeys,
  getConnectionContext,
  searchDocs,
]
