// Assembles browser sessions with their profiles, proxies, extensions, recordings, telemetry and pools, and attaches
// the endpoints where clients reach them.
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Guard } from '../http/access.ts'
import type { Call, Route } from '../http/call.ts'
import type { RequestShares } from '../http/request-shares.ts'
import type { DeepStandbyReport } from '../instances/driver/driver.ts'
import type { Instances, ReadyInstance } from '../instances/stock/instances.ts'
import type { Platform } from '../platform/module.ts'
import { serviceSecret } from '../platform/secrets/service-secret.ts'
import { DefaultProject } from '../tenancy/projects/default-project.ts'
import { findDefaultProject } from '../tenancy/projects/store.ts'
import type { StorageLimits } from '../tenancy/storage/storage-limits.ts'
import type { ExtraSource } from './browsers/extras.ts'
import { DeepStandby } from './browsers/deep-standby.ts'
import { watchStandby } from './browsers/standby-metrics.ts'
import { LiveSessions } from './browsers/live-sessions.ts'
import { HostRoom } from './browsers/host-room.ts'
import { browserRoutes, callerOf } from './browsers/routes.ts'
import { BrowserService } from './browsers/service.ts'
import { SessionMemory } from './browsers/memory.ts'
import { Sessions } from './browsers/sessions.ts'
import { isUnsavedAfter } from './browsers/state.ts'
import { SessionExports } from './browsers/session-exports.ts'
import { countExportingTo, countUsingProxy } from './browsers/store.ts'
import { BrowserView } from './browsers/view.ts'
import { attachClients, type IsLoginStuck } from './clients.ts'
import { Controls } from './control/controls.ts'
import { controlRoutes } from './control/routes.ts'
import { SessionAccess } from './control/session-access.ts'
import { newExtensions } from './extensions/module.ts'
import { SessionTokens } from './gateway/tokens.ts'
import { devtoolsRoutes } from './devtools/routes.ts'
import { handoverRoutes } from './handovers/routes.ts'
import { Handovers } from './handovers/service.ts'
import { liveRoutes } from './live-view/routes.ts'
import { openLiveViews } from './live-view/watched.ts'
import { overviewRoutes } from './overview/routes.ts'
import { OverviewService } from './overview/service.ts'
import { Policies } from './policies/policies.ts'
import { newPools } from './pools/module.ts'
import { refreshPoolsOf } from './pools/refresh.ts'
import { countPoolsUsingProxy } from './pools/store.ts'
import { previewRoutes } from './previews/routes.ts'
import { profileRoutes } from './profiles/routes.ts'
import { SaveWatch } from './profiles/save-watch.ts'
import { ProfileSaver } from './profiles/saver.ts'
import { ProfileService, type ProfileUse } from './profiles/service.ts'
import { SessionProfiles } from './profiles/session-profiles.ts'
import { ArchiveStore } from './profiles/archive-store.ts'
import { newProxies } from './proxies/module.ts'
import type { ProxyUse } from './proxies/types.ts'
import { Journals } from './replays/journal.ts'
import { ReplayRecorder } from './replays/recorder.ts'
import { Recordings } from './replays/recordings.ts'
import { attachPlayer, replayRoutes } from './replays/routes.ts'
import { ReplayService } from './replays/service.ts'
import { internalAddress } from './replicas/own-address.ts'
import { OtherRooms } from './replicas/other-rooms.ts'
import { Peers } from './replicas/peers.ts'
import { StartHost } from './replicas/start-host.ts'
import { telemetryRoutes } from './browsers/telemetry-routes.ts'
import { newTelemetryExport } from './telemetry/export/module.ts'
import type { DestinationUse } from './telemetry/export/types.ts'
import { Telemetry } from './telemetry/telemetry.ts'

const MB = 1024 * 1024

export interface SessionsModuleOptions {
  readonly platform: Platform
  readonly instances: Instances
  readonly storage: StorageLimits
  readonly server: FastifyInstance
  readonly shares: RequestShares
  readonly version: string
  /** Extras that higher layers add to sessions. */
  readonly extraSources: readonly ExtraSource[]
  /** Other users of profiles and proxies, besides sessions and pools. A profile or proxy in use cannot be deleted. */
  readonly profileUses: readonly ProfileUse[]
  readonly proxyUses: readonly ProxyUse[]
  /** Other users of telemetry destinations. */
  readonly destinationUses: readonly DestinationUse[]
  readonly isLoginStuck: IsLoginStuck
}

export interface SessionsModule {
  readonly sessions: Sessions
  readonly browsers: BrowserService
  readonly tokens: SessionTokens
  readonly saves: SaveWatch
  /** Whether sessions on standby give their memory back. */
  deepStandbyReport(): DeepStandbyReport
  readonly routes: readonly Route[]
  /** Admits callers that present a session token. */
  readonly guard: Guard
  /** Resumes the sessions of an earlier run and removes their instances from `found`. */
  resume(found: Map<string, ReadyInstance>): Promise<void>
  /** Resumes recordings and saves of an earlier run, and starts to fill pools. */
  start(): Promise<void>
  /** Tells other servers where to reach this one. */
  listening(address: string): Promise<void>
  /** Tells the clients of all sessions that this server stops. */
  closeClients(): Promise<void>
  /** Ends all sessions, or leaves them to the next server. Returns the ids of the instances that keep running. */
  close(options: { endAll: boolean }): Promise<string[]>
}

export async function newSessions(options: SessionsModuleOptions): Promise<SessionsModule> {
  const { platform, instances, storage, server, shares } = options
  const { config, db, pool, box, blobs, changes, metrics, serverId, log } = platform
  const leaseSeconds = config.BERTH_LEASE_SECONDS
  const secret = await serviceSecret(db, box, 'session-tokens')
  const tokens = new SessionTokens({ keys: [{ kid: 'session-tokens', secret }] })
  const live = new LiveSessions()
  const proxies = newProxies(platform, [
    { what: 'browser pools', countUsing: countPoolsUsingProxy },
    { what: 'browser sessions', countUsing: countUsingProxy },
    ...options.proxyUses,
  ])
  const { sessionProxies } = proxies
  const telemetry = new Telemetry({
    db,
    pool,
    box,
    storage,
    maxBytes: config.BERTH_TELEMETRY_SESSION_MB * MB,
    version: options.version,
    log,
  })
  const telemetryExport = newTelemetryExport(platform, {
    version: options.version,
    countExporting: countExportingTo,
    uses: options.destinationUses,
  })
  const exports = new SessionExports()
  const recordings = new Recordings({
    db,
    pool,
    box,
    blobs,
    storage,
    journals: await Journals.open(join(config.BERTH_DATA_DIR, 'recordings')),
    serverId,
    leaseSeconds,
    maxBytes: config.BERTH_REPLAY_MAX_MB * MB,
    findHere: (id) => live.find(id),
    log,
  })
  const archives = new ArchiveStore({ box, blobs, maxBytes: config.BERTH_PROFILE_MAX_MB * MB })
  const versions = { archives, storage, kept: config.BERTH_PROFILE_VERSIONS, onChange: refreshPoolsOf }
  const saver = new ProfileSaver({
    db,
    pool,
    versions,
    serverId,
    leaseSeconds,
    isHere: (id) => live.has(id),
    log,
  })
  const peers = new Peers({
    db,
    tokens,
    certificate: config.BERTH_TLS_CERT,
    onEvent: (sessionId, event) => telemetry.inbox.put(sessionId, event),
  })
  const region = config.BERTH_REGION
  const room = new HostRoom({ live, instances, maxSessions: config.BERTH_HOST_MAX_SESSIONS })
  const deepStandby = new DeepStandby({
    live,
    instances,
    afterSeconds: config.BERTH_DEEP_STANDBY_SECONDS,
    log,
  })
  watchStandby(metrics, { live, deepStandby })
  const sessions = new Sessions({
    db,
    live,
    instances,
    serverId,
    peers,
    leaseSeconds,
    region,
    room,
    deepStandby,
    telemetry,
    routeOf: (record) => sessionProxies.routeOf(record),
    beforeDestroy: async ({ id, projectId, instance, reason, hasProfile }) => {
      await recordings.endAll(id, 'session_ended')
      if (hasProfile && !isUnsavedAfter(reason)) await saver.saveAtEnd({ id, projectId }, instance)
    },
    log,
  })
  const findSession = (id: string) => sessions.find(id)
  const recorder = new ReplayRecorder({ db, pool, box, storage, findSession, recordings })
  const saves = new SaveWatch(db)
  const sessionProfiles = new SessionProfiles({ db, archives, watch: saves, findSession })
  const policies = new Policies({
    db,
    box,
    authoritiesOf: (reader, browser) => sessionProxies.authoritiesOf(reader, browser),
  })
  const memory = new SessionMemory({ instances, maxMb: config.BERTH_SESSION_MAX_MEMORY_MB })
  const elsewhere = new OtherRooms({
    db,
    tokens,
    certificate: config.BERTH_TLS_CERT,
    serverId,
    region,
    giveUp: (id) => sessions.endElsewhere(id, 'start_failed'),
    log,
  })
  const extensions = await newExtensions(platform, storage)
  const defaultProject = new DefaultProject(platform)
  const browsers = new BrowserService({
    policies,
    db,
    pool,
    sessions,
    live,
    instances,
    view: new BrowserView({ tokens, live, memory, region }),
    memory,
    region,
    room,
    elsewhere,
    serverId,
    maxSessions: config.BERTH_MAX_CONCURRENT_SESSIONS,
    defaultProject: (from) => defaultProject.find(from),
    resizeGuards: [openLiveViews, recorder],
    recorder,
    extraSources: [
      memory,
      sessionProxies,
      policies,
      extensions.sessionExtensions,
      sessionProfiles,
      exports,
      ...options.extraSources,
    ],
    proxies: sessionProxies,
    exports,
    profiles: sessionProfiles,
    saves,
  })
  const replays = new ReplayService({
    db,
    box,
    blobs,
    browsers,
    recorder,
    tokens,
    linkSeconds: config.BERTH_REPLAY_LINK_DAYS * 24 * 3600,
  })
  const profiles = new ProfileService({
    db,
    versions,
    browsers,
    findSession,
    watch: saves,
    uses: options.profileUses,
    defaultProject: findDefaultProject,
  })
  const pools = newPools({
    platform,
    browsers,
    sessions,
    exports,
    holdProxy: (tx, projectId, proxyId) => sessionProxies.hold(tx, projectId, { proxyId }),
    isAble: () => instances.shortcomings.length === 0,
    endRecordings: (id) => recorder.endRunning(id, 'stopped'),
  })
  const overview = new OverviewService({
    instances,
    maxSessions: config.BERTH_MAX_CONCURRENT_SESSIONS,
    maxPooledSessions: config.BERTH_MAX_POOLED_SESSIONS,
  })
  const find = (call: Call<unknown>, id: string) => browsers.session(callerOf(call), id)
  const controls = new Controls({
    find,
    maxBodyBytes: config.BERTH_MAX_FILE_MB * MB,
    maxCallsPerProject: config.BERTH_MAX_CALLS_AT_ONCE,
  })
  const access = new SessionAccess({
    tokens,
    projectOf: (id, leaseNumber) => browsers.projectOf(id, leaseNumber),
    shares,
  })
  const starts = new StartHost({
    serverId,
    tokens,
    startFor: (asker, wanted) => browsers.startFor(asker, wanted),
    log,
  })
  const { isLoginStuck } = options
  const handovers = new Handovers({ db, box, tokens })
  const clients = attachClients({ platform, server, sessions, tokens, starts, handovers, isLoginStuck })
  attachPlayer(server, replays)

  changes.on('sessionChanged', ({ sessionId }) => void sessions.changed(sessionId))
  changes.on('serverLeft', ({ serverId: left }) => {
    // This one hears itself, too.
    if (left !== serverId) void sessions.takeOver().catch(() => {})
  })
  changes.on('handoverChanged', ({ handoverId }) => handovers.announced(handoverId))
  changes.on('replaysChanged', ({ sessionId }) => void recordings.look(sessionId))
  changes.on('profileChanged', ({ profileId }) => saves.announced(profileId))
  changes.on('profileUnchanged', ({ profileId }) => saves.announced(profileId))
  changes.on('telemetryStored', ({ sessionId, upTo }) => telemetry.stored(sessionId, upTo))
  changes.on('telemetryInboxFilled', ({ sessionId }) => telemetry.inboxFilled(sessionId))
  metrics.gauge({
    name: 'berth_live_sessions',
    help: 'Browser sessions of this server',
    read: () => live.count,
  })
  metrics.gauge({
    name: 'berth_session_room',
    help: 'How many more sessions this server has room for, as the other servers know it',
    read: () => sessions.toldRoom,
  })
  metrics.counter({
    name: 'berth_sessions_given_total',
    help: 'Sessions that another server has started because this one had no room',
    read: () => elsewhere.given,
  })
  metrics.gauge({
    name: 'berth_recordings',
    help: 'Running recordings in sessions of this server',
    read: () => recordings.count,
  })
  metrics.counter({
    name: 'berth_telemetry_events_dropped_total',
    help: 'Session events that were dropped because there were too many',
    read: () => telemetry.droppedCount,
  })

  return {
    sessions,
    browsers,
    tokens,
    saves,
    deepStandbyReport: () => deepStandby.report,
    routes: [
      ...browserRoutes(browsers),
      ...overviewRoutes(overview),
      ...pools.routes,
      ...controlRoutes(controls),
      ...liveRoutes({ tokens, find }),
      ...handoverRoutes(handovers, browsers),
      ...previewRoutes(browsers),
      ...devtoolsRoutes({ tokens, find }),
      ...replayRoutes(replays),
      ...extensions.routes,
      ...profileRoutes(profiles),
      ...telemetryRoutes(browsers, telemetry),
      ...telemetryExport.routes,
      ...proxies.routes,
    ],
    guard: access.guard,
    resume: (found) => sessions.resume(found),
    start: async () => {
      await recordings.resume()
      await saver.resume()
      instances.fill()
      pools.start()
      telemetryExport.start()
    },
    listening: (address) => sessions.listening(internalAddress(address, config.BERTH_INTERNAL_URL)),
    closeClients: async () => {
      await sessions.leaving()
      pools.closeWaiters()
      await clients.close()
    },
    close: async ({ endAll }) => {
      await pools.close()
      await starts.close()
      await deepStandby.close()
      // Sessions that keep running need their recordings handed over first. Sessions that end still deliver their
      // last pictures, so their recordings close after them.
      if (!endAll) await recordings.close({ finishes: instances.areShared })
      const kept = await sessions.close({ endAll })
      saver.close()
      await recordings.close({ finishes: instances.areShared })
      await telemetryExport.close()
      return kept
    },
  }
}
