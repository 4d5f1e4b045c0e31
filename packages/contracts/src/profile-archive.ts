// How a user-data directory travels between the agent and the server: as a tar stream, paths relative to the
// directory, files and directories only.
//
//   GET  /profile?then=reopen   200 application/x-tar. Chromium is ended so that all it knows is on the disk, and
//                               started again, with its tabs, when the stream is over or broken off
//   GET  /profile?then=stay     the same, and Chromium stays away: the session is over
//   PUT  /profile?tabs=keep     204. Compressed by zstd. What it holds takes the place of the directory once all of
//                               it is there; a Chromium that runs is started again on it. tabs=drop: its tabs are
//                               not opened again
//   POST /profile/keep          204. Nothing is brought, but tabs and session cookies outlive a restart from now on

/** Nothing that a page or a user would miss, and most of the bytes. */
const CACHES = new Set([
  'BrowserMetrics',
  'Cache',
  'Code Cache',
  'Crash Reports',
  'Crashpad',
  'DawnCache',
  'DawnGraphiteCache',
  'DawnWebGPUCache',
  'GPUCache',
  'GPUPersistentCache',
  'GrShaderCache',
  'GraphiteDawnCache',
  'Media Cache',
  'Safe Browsing',
  'ShaderCache',
  'blob_storage',
  'component_crx_cache',
  'extensions_crx_cache',
  'optimization_guide_model_store',
])

/** Of a Chromium that runs, or ran: the next one makes its own. */
const OF_A_RUN =
  /^(Singleton(Lock|Cookie|Socket)|DevToolsActivePort|lockfile|BrowserMetrics-spare\.pma|\.org\.chromium\..*)$/

/**
 * Whether an entry of a user-data directory is worth keeping. Caches are looked for only where Chromium has
 * them, at the top and in each profile: below, names are those of sites.
 */
export function isKept(path: string): boolean {
  const parts = path.split('/')
  if (OF_A_RUN.test(parts[0]!)) return false
  return !CACHES.has(parts[0]!) && !(parts[1] !== undefined && CACHES.has(parts[1]))
}

/** Chromium's own; there are no others. */
export const PROFILE_DIRECTORY = 'Default'
/** Below it, which tabs were open. */
export const TABS_DIRECTORY = 'Sessions'
