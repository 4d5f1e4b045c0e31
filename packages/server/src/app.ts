// The composition root: everything is made here, once, and handed to who needs it.
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { Turnstile } from '@berth/kit/turnstile'
import { openApiDocument } from '@berth/contracts/openapi'
import { operations } from '@berth/contracts/operations'
import { KeyAuthenticator } from './tenancy/api-keys/authenticator.ts'
import { apiKeyRoutes } from './tenancy/api-keys/routes.ts'
import { ApiKeyService } from './tenancy/api-keys/service.ts'
import { countLiveApiKeys } from './tenancy/api-keys/store.ts'
import { auditRoutes } from './tenancy/audit/routes.ts'
import { countConnections } from './logins/connections/store.ts'
import { AuditService } from './tenancy/audit/service.ts'
import { AuditTrail } from './tenancy/audit/trail.ts'
import { Blobs } from './platform/blobs/blobs.ts'
import { DirectoryBlobStore } from './platform/blobs/directory-store.ts'
import { bootstrap } from './tenancy/bootstrap.ts'
import { countLiveBrowsers } from './sessions/browsers/store.ts'
import { countExtensions } from './sessions/extensions/store.ts'
import type { Config } from './config/config.ts'
import { countCredentials } from './logins/credentials/store.ts'
import { openDatabase } from './platform/database/database.ts'
import { countLiveDeployments } from './apps/deployments/store.ts'
import { ChangeListener } from './platform/database/listener.ts'
import { claimDataDir, startStorage } from './platform/database/storage.ts'
import { isGatewayUpgrade } from './sessions/gateway/upgrade.ts'
import { Access } from './http/access.ts'
import type { Connections } from './http/connections.ts'
import { IdempotentAnswers } from './http/idempotency.ts'
import { mount } from './http/mount.ts'
import { OpenStreams } from './http/open-streams.ts'
import { originOf } from './http/origin.ts'
import { RateLimit } from './http/rate-limit.ts'
import { newServer } from './http/server.ts'
import { Housekeeping } from './platform/jobs/housekeeping.ts'
import type { ServerLog } from './platform/log/logging.ts'
import { organizationRoutes } from './tenancy/organization/routes.ts'
import { OrganizationService } from './tenancy/organization/service.ts'
import { countLivePools } from './sessions/pools/store.ts'
import { countProfiles } from './sessions/profiles/store.ts'
import { projectRoutes } from './tenancy/projects/routes.ts'
import { ProjectService } from './tenancy/projects/service.ts'
import { countLiveProxies } from './sessions/proxies/store.ts'
import { Keyring } from './platform/secrets/keyring.ts'
import { SealedBox } from './platform/secrets/sealed-box.ts'
import { serviceSecret } from './platform/secrets/service-secret.ts'
import { openDriver, startSessions, type SessionsPart } from './sessions-part.ts'
import { docsPage } from './http/reference/page.ts'
import { Metrics } from './platform/metrics/metrics.ts'
import { Readiness } from './http/system/readiness.ts'
import { isTunnelUpgrade } from './sessions/replicas/tunnel-host.ts'
import { systemRoutes } from './http/system/routes.ts'

export const VERSION = '0.1.0'

export interface App {
  /** Where it listens, such as http://127.0.0.1:8080. */
  readonly address: string
  /** Set when this start made the first key. */
  readonly firstKey: string | undefined
  readonly server: FastifyInstance
  /** Stops taking work, lets what is under way finish within its grace, and lets go of everything. */
  close(options: CloseOptions): Promise<void>
}

export interface CloseOptions {
  readonly drainMs: number
  readonly graceMs: number
  /** Otherwise sessions live on for their lease, for the next server to take over. */
  readonly endSessions: boolean
}

export async function startApp(config: Config, { log, droppedLines }: ServerLog): Promise<App> {
  await using cleanup = new AsyncDisposableStack()

  cleanup.use(await claimDataDir(config))
  // Both wait for other processes most of the time, so they wait together.
  const opening = openDriver(config, log)
  opening.catch(() => {})
  cleanup.defer(async () => (await opening).close())
  const storage = cleanup.use(await startStorage(config, log))
  const database = openDatabase(storage.connection, { size: config.BERTH_DATABASE_POOL, log })
  cleanup.defer(() => database.close())
  const { db, pool } = database
  const ring = await Keyring.open({ dataDir: config.BERTH_DATA_DIR, fromSetting: config.BERTH_MASTER_KEY })
  const firstKey = await bootstrap(pool, { config, ring })
  const box = new SealedBox(ring)

  const blobs = new Blobs({ store: await DirectoryBlobStore.open(join(config.BERTH_DATA_DIR, 'blobs')), log })
  const driver = await opening
  const part = await startSessions({ config, db, pool, box, blobs, driver, version: VERSION, log })
  let endSessions = true
  cleanup.defer(() => part.close({ endAll: endSessions }))

  const onChange = (change: string) => {
    const [what, id] = change.split(':', 2)
    if (what === 'master-keys') ring.reload()
    else if (what === 'browser' && id) void part.sessions.changed(id)
    else if (what === 'pool' && id) part.pools.changed(id)
    else if (what === 'auth-connection' && id) part.connections.changed(id, change.split(':')[2] || undefined)
    else if (what === 'replays' && id) void part.recordings.look(id)
    else if ((what === 'profile' || what === 'profile-unchanged') && id) part.saves.announced(id)
    else if (what !== undefined && part.apps.changed(what, id)) return
    else if (what?.startsWith('telemetry') && id)
      part.telemetry.announced(what, id, change.split(':')[2] ?? '')
    else {
      authenticator.forget(change)
      openStreams.check()
    }
  }
  const listener = new ChangeListener({
    connection: storage.connection,
    log,
    onChange,
  })
  const authenticator = new KeyAuthenticator({ db, canRemember: () => listener.isListening })
  const openStreams = new OpenStreams(authenticator)
  cleanup.defer(() => listener.close())
  await listener.start()
  await part.resume()

  const audit = new AuditTrail({ db, log })
  cleanup.defer(() => audit.close())
  await blobs.sweep(db)
  const housekeeping = new Housekeeping({
    db,
    pool,
    log,
    blobs,
    auditRetentionDays: config.BERTH_AUDIT_RETENTION_DAYS,
    replayRetentionDays: config.BERTH_REPLAY_RETENTION_DAYS,
    telemetryRetentionDays: config.BERTH_TELEMETRY_RETENTION_DAYS,
    appLogRetentionDays: config.BERTH_APP_LOG_RETENTION_DAYS,
    invocationRetentionDays: config.BERTH_INVOCATION_RETENTION_DAYS,
    loginRetentionDays: config.BERTH_LOGIN_RETENTION_DAYS,
  })
  cleanup.defer(() => housekeeping.close())
  void housekeeping.run()

  const projects = new ProjectService({
    db,
    contents: [
      { what: 'API keys', countIn: countLiveApiKeys },
      { what: 'browser pools', countIn: countLivePools },
      { what: 'browser sessions', countIn: countLiveBrowsers },
      { what: 'proxies', countIn: countLiveProxies },
      { what: 'auth connections', countIn: countConnections },
      { what: 'credentials', countIn: countCredentials },
      { what: 'extensions', countIn: countExtensions },
      { what: 'profiles', countIn: countProfiles },
      { what: 'deployments', countIn: countLiveDeployments },
    ],
  })
  const metrics = new Metrics({
    pool,
    droppedLogLines: droppedLines,
    droppedAuditRecords: () => audit.droppedCount,
    droppedEvents: () => part.telemetry.droppedCount,
    liveSessions: () => part.sessions.count,
    recordings: () => part.recordings.count,
    runningInvocations: () => part.apps.runningCount,
    runningLogins: () => part.connections.runningCount,
    readyInstances: (kind) => part.instances.readyCount(kind),
  })
  const readiness = new Readiness(db)
  const { fastify: server, connections } = newServer({
    config,
    log,
    audit,
    metrics,
    isDraining: () => readiness.isDraining,
    shouldUpgrade: (request) => isGatewayUpgrade(request) || isTunnelUpgrade(request),
  })
  const rate = new RateLimit(config.BERTH_RATE_LIMIT_PER_MINUTE)
  const access = new Access({
    authenticator,
    flows: part.connections.tokens,
    projects,
    rate,
    room: () => audit.room(),
  })
  const organization = new OrganizationService({
    maxConcurrentSessions: config.BERTH_MAX_CONCURRENT_SESSIONS,
    maxConcurrentInvocations: config.BERTH_MAX_CONCURRENT_INVOCATIONS,
    maxPooledSessions: config.BERTH_MAX_POOLED_SESSIONS,
  })
  part.attach(server)
  const routes = [
    ...part.routes,
    ...projectRoutes(projects),
    ...organizationRoutes(organization),
    ...apiKeyRoutes(new ApiKeyService()),
    ...auditRoutes(new AuditService(audit)),
    ...systemRoutes({
      version: VERSION,
      readiness,
      metrics,
      openApi: () => JSON.stringify(openApiDocument(operations)),
      docs: () => docsPage(operations),
    }),
  ]
  mount(server, routes, {
    db,
    pool,
    access,
    sessionGuard: part.accessTo(rate).guard,
    audit,
    answers: new IdempotentAnswers({ box, secret: await serviceSecret(db, box, 'idempotent-requests') }),
    originOf: (request) => originOf(config, request),
    heldActs: new Turnstile(Math.floor(config.BERTH_DATABASE_POOL / 2)),
    openStreams,
    onChange,
  })
  await server.listen({ host: config.BERTH_HOST, port: config.BERTH_PORT }).catch((error: unknown) => {
    const place = `${config.BERTH_HOST} port ${config.BERTH_PORT}`
    throw new Error(`Cannot listen on ${place}; see BERTH_HOST and BERTH_PORT`, { cause: error })
  })
  const address = addressOf(server, config)
  await part.listening(address)

  const owned = cleanup.move()
  let closing: Promise<void> | undefined
  return {
    address,
    firstKey,
    server,
    close: (options) => {
      endSessions = options.endSessions
      return (closing ??= shutDown({ server, connections, readiness, part, owned, ...options }))
    },
  }
}

interface ShutDown extends CloseOptions {
  readonly server: FastifyInstance
  readonly connections: Connections
  readonly readiness: Readiness
  readonly part: SessionsPart
  readonly owned: AsyncDisposable
}

async function shutDown(options: ShutDown): Promise<void> {
  const { server, connections, readiness, part, owned, drainMs, graceMs } = options
  readiness.drain()
  await new Promise((resolve) => setTimeout(resolve, drainMs))
  await part.closeClients()
  const grace = connections.closeWithin(graceMs)
  await server.close()
  grace[Symbol.dispose]()
  await owned[Symbol.asyncDispose]()
}

function addressOf(server: FastifyInstance, config: Config): string {
  const { address, port, family } = server.server.address() as AddressInfo
  const scheme = config.BERTH_TLS_CERT ? 'https' : 'http'
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
