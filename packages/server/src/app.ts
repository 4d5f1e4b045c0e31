// The composition root: creates every room once, in the order of the architecture diagram.
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { FairTurns } from '@berth/kit/fair-turns'
import { openApiDocument } from '@berth/contracts/openapi'
import { operations } from '@berth/contracts/operations'
import { InvocationSessions } from './apps/invocations/session-link.ts'
import { newApps } from './apps/module.ts'
import { newAuditExportNetwork } from './audit-export-network.ts'
import { changeSources } from './change-sources.ts'
import type { Config } from './config/config.ts'
import { contents } from './contents.ts'
import { housekeepingTasks } from './housekeeping-tasks.ts'
import { Access } from './http/access.ts'
import type { Connections } from './http/connections.ts'
import type { IsOwnOrigin } from './http/credential.ts'
import { CrossOrigin } from './http/cross-origin.ts'
import { attachDashboard } from './http/dashboard-page.ts'
import { attachDocs, DocsFiles } from './http/docs-files.ts'
import { isOwnOrigin } from './http/host-check.ts'
import { IdempotentAnswers } from './http/idempotency.ts'
import { InsideConnections } from './http/inside.ts'
import { mount } from './http/mount.ts'
import { originOf } from './http/origin.ts'
import { RequestShares } from './http/request-shares.ts'
import { newServer } from './http/server.ts'
import { Readiness } from './http/system/readiness.ts'
import { systemRoutes } from './http/system/routes.ts'
import { StatusReport } from './http/system/status.ts'
import type { DeepStandbyReport, Driver, GpuReport } from './instances/driver/driver.ts'
import { newInstances, openDriver, openKeptDriver } from './instances/module.ts'
import type { LoginEngine } from './logins/connections/engine.ts'
import { agentLogins } from './logins/engine/agent-logins.ts'
import { newLogins } from './logins/module.ts'
import { attachMcp } from './mcp/attach.ts'
import { destinationUse, isStuck, profileUse, proxyUse } from './logins/uses.ts'
import { emitChange } from './platform/database/change-events.ts'
import { claimDataDir } from './platform/database/storage.ts'
import { Housekeeping } from './platform/jobs/housekeeping.ts'
import type { ServerLog } from './platform/log/logging.ts'
import { openPlatform, type Platform } from './platform/module.ts'
import { serviceSecret } from './platform/secrets/service-secret.ts'
import { isGatewayUpgrade } from './sessions/gateway/upgrade.ts'
import { newSessions, type SessionsModule } from './sessions/module.ts'
import { isTunnelUpgrade } from './sessions/replicas/tunnel-host.ts'
import { organizationUse } from './organization-use.ts'
import { storedKinds } from './stored-kinds.ts'
import { AuditTrail } from './tenancy/audit/trail.ts'
import { bootstrap } from './tenancy/bootstrap.ts'
import { newTenancy, type TenancyModule } from './tenancy/module.ts'
import { StorageLimits } from './tenancy/storage/storage-limits.ts'
import { newWebhookNetwork } from './webhook-network.ts'

/** How long a server that was killed may need to end. */
const KILLED_SERVER_MS = 1_000

export const VERSION = '0.1.0'

/** Acts of one project that wait to commit. */
const MAX_WAITING_ACTS = 1_000

export interface App {
  /** The server's URL, such as http://127.0.0.1:8080. */
  readonly address: string
  /** Set when this start created the first key. */
  readonly firstKey: string | undefined
  readonly server: FastifyInstance
  /** Refuses new work, gives running work its grace period, then releases everything. */
  close(options: CloseOptions): Promise<void>
}

export interface CloseOptions {
  readonly drainMs: number
  readonly graceMs: number
  /** If false, sessions stay alive for their lease so that the next server can take them over. */
  readonly endSessions: boolean
}

/** The driver runs sessions; the login engine completes login pages. Only tests replace them. */
export interface Engines {
  readonly openDriver: (config: Config, log: Logger, platform: Promise<Platform>) => Promise<Driver>
  readonly logins: LoginEngine
}

const shipped: Engines = { openDriver, logins: agentLogins }
/** For a server that root started. */
export const keptEngines: Engines = { openDriver: openKeptDriver, logins: agentLogins }

export async function startApp(config: Config, serverLog: ServerLog, engines = shipped): Promise<App> {
  await using cleanup = new AsyncDisposableStack()
  const { log } = serverLog
  cleanup.use(await claimDataDir(config, { waitMs: KILLED_SERVER_MS }))
  // Opening the driver and the platform is mostly waiting for other processes, so both run at once.
  const platformOpening = Promise.withResolvers<Platform>()
  platformOpening.promise.catch(() => {})
  const opening = engines.openDriver(config, log, platformOpening.promise)
  opening.catch(() => {})
  cleanup.defer(async () => (await opening).close())
  const platform = await openPlatform(config, serverLog, cleanup).catch((error: unknown) => {
    platformOpening.reject(error)
    throw error
  })
  platformOpening.resolve(platform)
  const { db, pool, box, changes, listener, metrics } = platform
  const firstKey = await bootstrap(pool, platform)

  const audit = new AuditTrail({ db, log })
  const readiness = new Readiness(db)
  const shares = new RequestShares({
    perMinute: config.BERTH_RATE_LIMIT_PER_MINUTE,
    atOnce: config.BERTH_MAX_REQUESTS_AT_ONCE,
  })
  const { fastify: server, connections } = newServer({
    config,
    log,
    audit,
    metrics,
    isDraining: () => readiness.isDraining,
    shouldUpgrade: (request) => isGatewayUpgrade(request) || isTunnelUpgrade(request),
  })

  const driver = await opening
  const instances = newInstances(platform, driver)
  const storage = new StorageLimits({
    db,
    kinds: storedKinds,
    defaultMaxBytes: config.BERTH_PROJECT_STORAGE_MB * 1024 * 1024,
  })
  const sessions = await newSessions({
    platform,
    instances,
    storage,
    server,
    shares,
    version: VERSION,
    extraSources: [new InvocationSessions()],
    profileUses: [profileUse],
    proxyUses: [proxyUse],
    destinationUses: [destinationUse],
    isLoginStuck: isStuck,
  })
  const apps = newApps({
    platform,
    instances,
    storage,
    sessions,
    toApi: new InsideConnections(server).take,
  })
  const logins = await newLogins({ platform, instances, sessions, server, engine: engines.logins })
  const isOwn: IsOwnOrigin = (origin, host) => isOwnOrigin(config, origin, host)
  const tenancy = newTenancy({
    platform,
    audit,
    isOwn,
    version: VERSION,
    hasGpu: instances.capabilities.gpu.gpus.length > 0,
    storage,
    contents,
    organizationUse,
    auditExportNetwork: newAuditExportNetwork(config),
    webhookNetwork: newWebhookNetwork(config),
    changeSources,
  })

  let endAll = true
  cleanup.defer(async () => {
    await logins.close({ endAll })
    await apps.close({ endAll })
    const kept = await sessions.close({ endAll })
    await instances.close({ keep: new Set([...kept, ...(endAll ? [] : apps.instanceIds)]) })
  })
  cleanup.defer(() => listener.close())
  await listener.start()
  const found = new Map((await instances.adopt()).map((ready) => [ready.instance.id, ready]))
  await sessions.resume(found)
  await apps.resume(found)
  // No room claimed these instances.
  await Promise.all([...found.values()].map(({ instance }) => instance.destroy()))
  await sessions.start()
  await logins.start()

  cleanup.defer(() => audit.close())
  await tenancy.auditExports.start()
  cleanup.defer(() => tenancy.auditExports.close())
  await tenancy.webhooks.start()
  cleanup.defer(() => tenancy.webhooks.close())
  const housekeeping = await startHousekeeping(platform)
  cleanup.defer(() => housekeeping.close())

  const { authenticator, projects, openStreams } = tenancy
  const access = new Access({
    authenticator,
    flows: logins.tokens,
    projects,
    shares,
    isOwn,
    room: () => audit.room(),
  })
  const docs = new DocsFiles()
  attachDocs(server, docs)
  const crossOrigin = new CrossOrigin({ listed: config.BERTH_ALLOWED_ORIGINS, isOwn })
  attachMcp(server, { access, crossOrigin, openStreams, isOwn })
  attachDashboard(server, { publicOrigin: config.BERTH_PUBLIC_URL?.origin })
  const routes = [
    ...sessions.routes,
    ...apps.routes,
    ...logins.routes,
    ...tenancy.routes,
    ...systemRoutes({
      version: VERSION,
      readiness,
      status: new StatusReport({
        readiness,
        canRunSessions: () => instances.shortcomings.length === 0,
        further: () => [
          ...gpuStatus(instances.capabilities.gpu),
          ...deepStandbyStatus(sessions.deepStandbyReport()),
        ],
      }),
      metrics,
      openApi: () => JSON.stringify(openApiDocument(operations)),
      docs,
    }),
  ]
  mount(server, routes, {
    db,
    pool,
    access,
    sessionGuard: sessions.guard,
    crossOrigin,
    audit,
    answers: new IdempotentAnswers({ box, secret: await serviceSecret(db, box, 'idempotent-requests') }),
    originOf: (request) => originOf(config, request),
    locks: platform.locks,
    heldActs: newHeldActs(config),
    openStreams,
    onChange: (change) => emitChange(changes, change),
  })
  await server.listen({ host: config.BERTH_HOST, port: config.BERTH_PORT }).catch((error: unknown) => {
    const place = `${config.BERTH_HOST} port ${config.BERTH_PORT}`
    const remedy =
      (error as NodeJS.ErrnoException).code === 'EACCES'
        ? `ports below 1024 are root's, and the server is not root: use a reverse proxy, or run sysctl net.ipv4.ip_unprivileged_port_start=${config.BERTH_PORT}`
        : 'see BERTH_HOST and BERTH_PORT'
    throw new Error(`Cannot listen on ${place}; ${remedy}`, { cause: error })
  })
  const address = addressOf(server, config)
  await sessions.listening(address)
  driver.goAhead?.()

  const owned = cleanup.move()
  let closing: Promise<void> | undefined
  return {
    address,
    firstKey,
    server,
    close: (options) => {
      endAll = options.endSessions
      return (closing ??= shutDown({ server, connections, readiness, sessions, tenancy, owned, ...options }))
    },
  }
}

/** Half of the connections, and half of that for one project. */
/** A host without a GPU lacks nothing that anybody needs. */
function gpuStatus({ gpus, problems, isUnwanted }: GpuReport) {
  if (isUnwanted) return []
  const isUp = gpus.length > 0
  const detail = isUp ? gpus.map(({ name }) => name).join(', ') : problems.join('; ')
  return [{ name: 'GPU sessions', isUp, detail }]
}

function deepStandbyStatus({ place, problem, isUnwanted }: DeepStandbyReport) {
  if (isUnwanted) return []
  return [{ name: 'Deep standby', isUp: place !== undefined, detail: place ?? problem ?? '', isMinor: true }]
}

function newHeldActs({ BERTH_DATABASE_POOL: connections }: Config): FairTurns {
  const atOnce = Math.floor(connections / 2)
  return new FairTurns({ atOnce, atOncePerKey: Math.ceil(atOnce / 2), maxWaitingPerKey: MAX_WAITING_ACTS })
}

async function startHousekeeping({ config, db, pool, blobs, log }: Platform): Promise<Housekeeping> {
  // A bucket may have millions; its sweep is one of the tasks.
  if (!blobs.isRemote) await blobs.sweep(db)
  const housekeeping = new Housekeeping({
    db,
    pool,
    log,
    tasks: housekeepingTasks(config, blobs),
  })
  void housekeeping.run()
  return housekeeping
}

interface ShutDown extends CloseOptions {
  readonly server: FastifyInstance
  readonly connections: Connections
  readonly readiness: Readiness
  readonly sessions: SessionsModule
  readonly tenancy: Pick<TenancyModule, 'changes'>
  readonly owned: AsyncDisposable
}

async function shutDown(options: ShutDown): Promise<void> {
  const { server, connections, readiness, sessions, tenancy, owned, drainMs, graceMs } = options
  readiness.drain()
  await new Promise((resolve) => setTimeout(resolve, drainMs))
  tenancy.changes.close()
  await sessions.closeClients()
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
