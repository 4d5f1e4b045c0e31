// How the agent and the server exchange a user-data directory: as a tar stream of files and directories, with paths
// relative to the user-data directory.
//
//   GET  /profile?then=reopen   200 application/x-tar. Stops Chromium, so that all its data is on disk, and restarts it
//                               with its tabs when the stream ends or breaks
//   GET  /profile?then=stay     the same, but Chromium stays stopped because the session is over
//   PUT  /profile?tabs=keep     204. Compressed with zstd. Replaces the directory after the whole archive has arrived, and
//                               restarts a running Chromium. tabs=drop: does not reopen the tabs
//   POST /profile/keep          204. Transfers nothing. From now on, tabs and session cookies survive a restart

/** Caches are most of the bytes, and neither pages nor users miss them. */
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

/** Files of one Chromium process. The next process creates its own. */
const PROCESS_FILES =
  /^(Singleton(Lock|Cookie|Socket)|DevToolsActivePort|lockfile|BrowserMetrics-spare\.pma|\.org\.chromium\..*)$/

/**
 * Whether to keep an entry of a user-data directory. Only the top level and each profile can contain Chromium's caches.
 * Deeper names come from websites.
 */
export function isKept(path: string): boolean {
  const parts = path.split('/')
  if (PROCESS_FILES.test(parts[0]!)) return false
  return !CACHES.has(parts[0]!) && !(parts[1] !== undefined && CACHES.has(parts[1]))
}

/** Chromium's default profile, the only one that Berth uses. */
export const PROFILE_DIRECTORY = 'Default'
/** Chromium stores the open tabs in this subdirectory. */
export const TABS_DIRECTORY = 'Sessions'
