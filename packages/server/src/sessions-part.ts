// The composition of everything around browser sessions; app.ts puts it beside the rest.
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { browserRoutes, callerOf } from './sessions/browsers/routes.ts'
import { BrowserService } from './sessions/browsers/service.ts'
import { Sessions } from './sessions/browsers/sessions.ts'
import { countUsingProxy, isUnsavedAfter } from './sessions/browsers/store.ts'
import { BrowserView } from './sessions/browsers/view.ts'
import { Policies } from './sessions/policies/policies.ts'
import { Controls } from './sessions/control/controls.ts'
import { controlRoutes } from './sessions/control/routes.ts'
import { attachLive } from './sessions/live-view/attach.ts'
import { liveRoutes } from './sessions/live-view/routes.ts'
import { Viewers } from './sessions/live-view/viewers.ts'
import { openLiveViews } from './sessions/live-view/watched.ts'
import { SessionAccess } from './sessions/control/session-access.ts'
import { AppsPart } from './apps/core/part.ts'
import { agentLogins } from './logins/engine/agent-logins.ts'
import { attachHostedPage } from './logins/connections/hosted-page.ts'
import { newConnections, type ConnectionsPart } from './logins/connections/part.ts'
import * as connectionStore from './logins/connections/store.ts'
import type { Blobs } from './platform/blobs/blobs.ts'
import type { Config } from './config/config.ts'
import { CredentialResolver } from './logins/credentials/resolver.ts'
import { credentialRoutes } from './logins/credentials/routes.ts'
import { CredentialSecrets } from './logins/credentials/secrets.ts'
import { CredentialService } from './logins/credentials/service.ts'
import { credentialProviderRoutes } from './logins/providers/routes.ts'
import { CredentialProviderService } from './logins/providers/service.ts'
import { Sources } from './logins/providers/sources.ts'
import type { Db } from './platform/database/schema.ts'
import { AllowList } from './instances/egress/allow-list.ts'
import { EgressPolicy } from './instances/egress/policy.ts'
import { EgressProxy } from './instances/egress/proxy.ts'
import { DirectUpstream } from './instances/egress/upstream.ts'
import { ExtensionCarrier } from './sessions/extensions/carrier.ts'
import { ChromeStore } from './sessions/extensions/chrome-store.ts'
import { extensionRoutes } from './sessions/extensions/routes.ts'
import { ExtensionService } from './sessions/extensions/service.ts'
import { Spool } from './sessions/extensions/spool.ts'
import { Gateway } from './sessions/gateway/gateway.ts'
import { SCREEN_PATH, TERMINAL_ROUTE } from './sessions/gateway/target.ts'
import { SessionTokens } from './sessions/gateway/tokens.ts'
import type { Route } from './http/call.ts'
import { isOwnOrigin, newHostCheck } from './http/host-check.ts'
import { InsideConnections } from './http/inside.ts'
import type { RateLimit } from './http/rate-limit.ts'
import { originOf } from './http/origin.ts'
import { internalAddress } from './sessions/replicas/own-address.ts'
import { Peers } from './sessions/replicas/peers.ts'
import { TunnelHost, isTunnelUpgrade } from './sessions/replicas/tunnel-host.ts'
import { newPools, type PoolsPart } from './sessions/pools/part.ts'
import { countPoolsUsingProxy } from './sessions/pools/store.ts'
import { ProfileCarrier } from './sessions/profiles/carrier.ts'
import { profileRoutes } from './sessions/profiles/routes.ts'
import { SaveWatch } from './sessions/profiles/save-watch.ts'
import { ProfileSaver } from './sessions/profiles/saver.ts'
import { ProfileService } from './sessions/profiles/service.ts'
import { Vault } from './sessions/profiles/vault.ts'
import type { VersionOptions } from './sessions/profiles/versions.ts'
import { findDefaultProject } from './tenancy/projects/store.ts'
import { Providers } from './sessions/proxies/providers.ts'
import { proxyRoutes } from './sessions/proxies/routes.ts'
import { ProxyService } from './sessions/proxies/service.ts'
import { SessionProxies } from './sessions/proxies/session-proxies.ts'
import { findProxy } from './sessions/proxies/store.ts'
import { ProxyUpstreams } from './sessions/proxies/upstreams.ts'
import { Journals } from './sessions/replays/journal.ts'
import { Recordings } from './sessions/replays/recordings.ts'
import { attachPlayer, replayRoutes } from './sessions/replays/routes.ts'
import { ReplayService } from './sessions/replays/service.ts'
import type { Driver, InstanceLimits } from './instances/driver.ts'
import { FakeDriver } from './instances/fake/fake-driver.ts'
import { fakeLogins } from './instances/fake/fake-logins.ts'
import { Instances } from './instances/instances.ts'
import { LocalDriver } from './instances/local/local-driver.ts'
import type { SealedBox } from './platform/secrets/sealed-box.ts'
import { serviceSecret } from './platform/secrets/service-secret.ts'
import { readServerId } from './platform/server-id.ts'
import { telemetryRoutes } from './sessions/telemetry/routes.ts'
import { Telemetry } from './sessions/telemetry/telemetry.ts'

/** Made by the set-up from packages/agent. */
const agentFile = join(import.meta.dirname, '../../agent/dist/agent.mjs')
const playwrightRunner = join(import.meta.dirname, '../../agent/dist/playwright.cjs')
/** The program itself; its package only chooses it. */
const esbuild = findEsbuild()

export interface SessionsPart {
  readonly sessions: Sessions
  readonly instances: Instances
  readonly recordings: Recordings
  /** Told of what becomes of profiles, by id. */
  readonly saves: SaveWatch
  readonly telemetry: Telemetry
  readonly pools: PoolsPart
  readonly apps: AppsPart
  readonly connections: ConnectionsPart
  readonly routes: readonly Route[]
  /** Lets in who has the token of a session. */
  accessTo(rate: RateLimit): SessionAccess
  /** Takes up what an earlier run left, then holds instances ready. */
  resume(): Promise<void>
  /** Lets the clients of sessions in. */
  attach(server: FastifyInstance): void
  /** Lets other servers know where to reach this one. */
  listening(address: string): Promise<void>
  /** Tells the clients of all sessions that this server stops. */
  closeClients(): Promise<void>
  /** Ends all sessions, or leaves them and their recordings to the next server. */
  close(options: { endAll: boolean }): Promise<void>
}

export async function startSessions(options: {
  config: Config
  db: Db
  pool: Pool
  box: SealedBox
  blobs: Blobs
  driver: Driver
  version: string
  log: Logger
}): Promise<SessionsPart> {
  const { config, db, pool, box, blobs, driver, version, log } = options
  const secret = await serviceSecret(db, box, 'session-tokens')
  const tokens = new SessionTokens({ keys: [{ kid: 'session-tokens', secret }] })
  const serverId = await readServerId(config.BERTH_DATA_DIR)
  const instances = new Instances({
    driver,
    limits: ({ headless }) => limitsOf(config, { headless }),
    stock: {
      empty: config.BERTH_EMPTY_INSTANCES,
      headless: config.BERTH_WARM_HEADLESS,
      headful: config.BERTH_WARM_HEADFUL,
    },
    leaseSeconds: config.BERTH_LEASE_SECONDS,
    hostLoopback: new AllowList(config.BERTH_EGRESS_ALLOW).hasLoopback,
    log,
  })
  for (const shortcoming of instances.shortcomings) {
    log.warn({ shortcoming }, 'no browser sessions on this host')
  }
  const telemetry = new Telemetry({
    db,
    pool,
    box,
    mostBytes: config.BERTH_TELEMETRY_SESSION_MB * MB,
    version,
    log,
  })
  const peers = new Peers({
    db,
    tokens,
    certificate: config.BERTH_TLS_CERT,
    onEvent: (sessionId, event) => telemetry.inbox.put(sessionId, event),
  })
  const providers = new Providers(config.BERTH_PROXY_PROVIDERS)
  const upstreams = new ProxyUpstreams({ box, providers })
  const sessionProxies = new SessionProxies({ db, upstreams })
  const leaseSeconds = config.BERTH_LEASE_SECONDS
  const sessions: Sessions = new Sessions({
    db,
    instances,
    serverId,
    peers,
    leaseSeconds,
    telemetry,
    routeOf: (record) => sessionProxies.routeOf(record),
    beforeDestroy: async ({ id, instance, reason, hasProfile }) => {
      await recordings.endAll(id, 'session_ended')
      if (hasProfile && !isUnsavedAfter(reason)) await saver.saveAtEnd(id, instance)
    },
    log,
  })
  const recordings = new Recordings({
    db,
    pool,
    box,
    blobs,
    journals: await Journals.open(join(config.BERTH_DATA_DIR, 'recordings')),
    serverId,
    leaseSeconds,
    mostBytes: config.BERTH_REPLAY_MAX_MB * MB,
    findHere: (id) => sessions.findHere(id),
    log,
  })
  const tunnels = new TunnelHost({ find: (id, tenure) => sessions.findHereAt(id, tenure), tokens })
  const vault = new Vault({ box, blobs, mostBytes: config.BERTH_PROFILE_MAX_MB * MB })
  const versions: VersionOptions = {
    vault,
    kept: config.BERTH_PROFILE_VERSIONS,
    onChange: (tx, projectId, profileId) => pools.service.profileUpdated(projectId, profileId, tx),
  }
  const saver = new ProfileSaver({
    db,
    pool,
    versions,
    serverId,
    leaseSeconds,
    isHere: (id) => sessions.has(id),
    log,
  })
  const view = new BrowserView({ tokens, uptimeOf: (id) => sessions.uptimeOf(id) })
  const policies = new Policies({ db, box })
  const inside = new InsideConnections()
  const apps = new AppsPart({
    config,
    db,
    pool,
    box,
    blobs,
    instances,
    serverId,
    show: (from, record, caller) => browsers.show(from, record, caller),
    toApi: inside.take,
    shut: (ended) => ended.forEach((browser) => sessions.shut(browser, 'deleted')),
    log,
  })
  const browsers = new BrowserService({
    policies,
    db,
    pool,
    sessions,
    instances,
    view,
    serverId,
    maxSessions: config.BERTH_MAX_CONCURRENT_SESSIONS,
    defaultProject: findDefaultProject,
  })
  const findSession = (id: string) => sessions.find(id)
  const replays = new ReplayService({ db, pool, box, blobs, browsers, findSession, recordings, tokens })
  const extensions = new ExtensionService({
    db,
    box,
    blobs,
    spool: await Spool.open(join(config.BERTH_DATA_DIR, 'uploads')),
    chromeStore: new ChromeStore({
      address: config.BERTH_CHROME_STORE_URL,
      upstream: new DirectUpstream({ policy: newEgressPolicy(config) }),
    }),
    defaultProject: findDefaultProject,
  })
  const carriedExtensions = new ExtensionCarrier({ db, contentOf: (record) => extensions.content(record) })
  const saves = new SaveWatch(db)
  const carrier = new ProfileCarrier({ db, vault, watch: saves, findSession })
  const profiles = new ProfileService({
    db,
    versions,
    browsers,
    findSession,
    uses: [{ what: 'auth connections', countUsing: connectionStore.countUsingProfile }],
    defaultProject: findDefaultProject,
  })
  browsers.attendants = {
    resizeGuards: [openLiveViews, replays],
    recorder: replays,
    carriers: [sessionProxies, policies, carriedExtensions, carrier, apps.carrier],
    countryOf: async (looked, { proxy_id: id }, projectId) =>
      id ? (await findProxy(looked, projectId, id))?.config.country : undefined,
    proxies: sessionProxies,
    profiles: carrier,
  }
  const proxies = new ProxyService({
    db,
    policy: newEgressPolicy(config),
    providers,
    upstreams,
    checkUrls: config.BERTH_PROXY_CHECK_URLS,
    uses: [
      { what: 'browser pools', countUsing: countPoolsUsingProxy },
      { what: 'browser sessions', countUsing: countUsingProxy },
      { what: 'auth connections', countUsing: connectionStore.countUsingProxy },
    ],
    defaultProject: findDefaultProject,
  })
  const credentialSecrets = new CredentialSecrets(box)
  const sources = new Sources({
    box,
    policy: newEgressPolicy(config),
    upstream: new DirectUpstream({ policy: newEgressPolicy(config) }),
  })
  const credentials = new CredentialService({
    secrets: credentialSecrets,
    uses: [connectionStore.credentialUse],
    defaultProject: findDefaultProject,
  })
  const credentialProviders = new CredentialProviderService({ db, sources })
  const pools = newPools({
    db,
    pool,
    box,
    browsers,
    sessions,
    serverId,
    mostWaitSeconds: config.BERTH_ACQUIRE_WAIT_SECONDS,
    ceilings: {
      maxSessions: config.BERTH_MAX_CONCURRENT_SESSIONS,
      maxPooledSessions: config.BERTH_MAX_POOLED_SESSIONS,
    },
    holdProxy: (tx, projectId, proxyId) => sessionProxies.hold(tx, projectId, { proxyId }),
    defaultProject: findDefaultProject,
    isAble: () => instances.shortcomings.length === 0,
    endRecordings: (id) => replays.endRunning(id, 'stopped'),
    log,
  })
  const connections = await newConnections({
    config,
    db,
    pool,
    box,
    serverId,
    browsers,
    sessions,
    instances,
    saves,
    sessionTokens: tokens,
    credentials: new CredentialResolver({ db, secrets: credentialSecrets, sources }),
    engine: hasFakeInstances() ? fakeLogins : agentLogins,
    log,
  })
  const controls = new Controls({
    find: (call, id) => browsers.session(callerOf(call), id),
    mostBodyBytes: config.BERTH_MAX_FILE_MB * MB,
  })
  const viewers = new Viewers({ mostPerSession: config.BERTH_MAX_VIEWERS })
  const admission = {
    tokens,
    checkHost: newHostCheck(config),
    isOwnOrigin: (origin: string, host: string | undefined) => isOwnOrigin(config, origin, host),
  }
  const gateway = new Gateway({ ...admission, sessions, live: viewers, log })
  return {
    sessions,
    instances,
    recordings,
    saves,
    telemetry,
    pools,
    apps,
    connections,
    routes: [
      ...apps.routes,
      ...browserRoutes(browsers),
      ...pools.routes,
      ...controlRoutes(controls),
      ...liveRoutes({ tokens, find: (call, id) => browsers.session(callerOf(call), id) }),
      ...replayRoutes(replays),
      ...extensionRoutes(extensions),
      ...profileRoutes(profiles),
      ...telemetryRoutes(browsers, telemetry),
      ...proxyRoutes(proxies),
      ...connections.routes,
      ...credentialRoutes(credentials),
      ...credentialProviderRoutes(credentialProviders),
    ],
    accessTo: (rate) =>
      new SessionAccess({ tokens, projectOf: (id, tenure) => browsers.projectOf(id, tenure), rate }),
    resume: async () => {
      const found = new Map((await instances.adopt()).map((ready) => [ready.instance.id, ready]))
      await sessions.resume(found)
      await apps.resume(found)
      // What nobody knows of.
      await Promise.all([...found.values()].map(({ instance }) => instance.destroy()))
      await recordings.resume()
      await saver.resume()
      instances.fill()
      pools.start()
      await connections.resume()
    },
    attach: (server) => {
      inside.attach(server)
      server.server.on('upgrade', (request, stream, head) => {
        // SAFETY: what servers of http and https hand out.
        const socket = stream as Socket
        socket.on('error', () => {})
        if (isTunnelUpgrade(request)) tunnels.accept(request, socket, head)
        else gateway.accept(request, socket, head)
      })
      attachLive(server, {
        ...admission,
        find: (id, tenure) => sessions.findAt(id, tenure),
        viewers,
        originOf: (request) => originOf(config, request),
        mostUploadBytes: config.BERTH_MAX_FILE_MB * MB,
      })
      attachPlayer(server, replays)
      attachHostedPage(server)
      // Not operations of the contract: what clients of CDP and BiDi ask for by themselves.
      const paths = ['/browser/cdp', '/browser/webdriver/session'].flatMap((path) => [path, `${path}/*`])
      for (const url of [...paths, TERMINAL_ROUTE, SCREEN_PATH]) {
        server.route({
          method: ['GET', 'HEAD', 'POST', 'PUT'],
          url,
          handler: async (request, reply) => {
            reply.hijack()
            await gateway.answer(request.raw, reply.raw, { origin: originOf(config, request) })
          },
        })
      }
    },
    listening: (address) => sessions.listening(internalAddress(address, config.BERTH_INTERNAL_URL)),
    closeClients: async () => {
      pools.closeWaiters()
      tunnels.close()
      await gateway.close('server stopping')
    },
    close: async ({ endAll }) => {
      await connections.close({ endAll })
      await pools.close()
      // What is to go on is let go of first; what ends has its last pictures to give.
      if (!endAll) await recordings.close()
      await apps.close({ endAll })
      const kept = await sessions.close({ endAll })
      await instances.close({ keep: new Set([...kept, ...(endAll ? [] : apps.instanceIds)]) })
      saver.close()
      await recordings.close()
    },
  }
}

export async function openDriver(config: Config, log: Logger): Promise<Driver> {
  if (hasFakeInstances()) return new FakeDriver()
  return LocalDriver.open({
    dataDir: config.BERTH_DATA_DIR,
    agentFile,
    playwrightRunner,
    ...(esbuild !== undefined && { esbuild }),
    leaseSeconds: config.BERTH_LEASE_SECONDS,
    allowWeakIsolation: config.BERTH_ALLOW_WEAK_ISOLATION,
    egress: new EgressProxy({ policy: newEgressPolicy(config), log }),
    log,
  })
}

/** The variable is refused by loadConfig unless this is a test. */
function hasFakeInstances(): boolean {
  return Boolean(process.env['BERTH_FAKE_INSTANCES'])
}

function newEgressPolicy(config: Config): EgressPolicy {
  return new EgressPolicy({ allow: config.BERTH_EGRESS_ALLOW })
}

function findEsbuild(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`@esbuild/linux-${process.arch}/bin/esbuild`)
  } catch {
    return undefined
  }
}

const MB = 1024 * 1024

function limitsOf(config: Config, { headless }: { headless: boolean }): InstanceLimits {
  return {
    memoryBytes: config.BERTH_SESSION_MEMORY_MB * MB * (headless ? 1 : 2),
    processes: config.BERTH_SESSION_PROCESSES,
    cpus: config.BERTH_SESSION_CPUS,
    homeBytes: config.BERTH_SESSION_DISK_MB * MB,
  }
}
