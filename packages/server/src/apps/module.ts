// Apps: deployments, their builds, the queue, and invocations with the instances they run in.
import type { Duplex } from 'node:stream'
import type { Route } from '../http/call.ts'
import type { Instances, ReadyInstance } from '../instances/stock/instances.ts'
import type { Platform } from '../platform/module.ts'
import * as browserStore from '../sessions/browsers/store.ts'
import type { EndedBrowser } from '../sessions/browsers/types.ts'
import type { SessionsModule } from '../sessions/module.ts'
import { findDefaultProject } from '../tenancy/projects/store.ts'
import type { StorageLimits } from '../tenancy/storage/storage-limits.ts'
import { DeploymentLocks } from './core/locks.ts'
import { Npm } from './core/npm.ts'
import { JobQueue } from './core/queue.ts'
import { appRoutes } from './core/routes.ts'
import { Builder } from './deployments/builder.ts'
import { deploymentRoutes } from './deployments/routes.ts'
import { DeploymentService } from './deployments/service.ts'
import { DeploymentStops } from './deployments/stops.ts'
import { followRoutes } from './following/routes.ts'
import { AppStreams } from './following/streams.ts'
import { AppInstances } from './invocations/app-instances.ts'
import { Ledger } from './invocations/ledger.ts'
import { invocationRoutes } from './invocations/routes.ts'
import { Runs } from './invocations/runs.ts'
import { InvocationService } from './invocations/service.ts'
import { Waiting } from './invocations/waiting.ts'
import { Reconciler } from './reconciler.ts'

const MB = 1024 * 1024
const BUILDS_AT_ONCE = 2

export interface AppsModule {
  readonly routes: readonly Route[]
  readonly instanceIds: readonly string[]
  /** Takes the app instances out of `found` and resumes what runs in them. */
  resume(found: Map<string, ReadyInstance>): Promise<void>
  close(options: { endAll: boolean }): Promise<void>
}

export function newApps(options: {
  platform: Platform
  instances: Instances
  storage: StorageLimits
  sessions: SessionsModule
  /** Receives a connection from inside an instance to the API. */
  toApi: (connection: Duplex) => void
}): AppsModule {
  const { platform, instances, storage, sessions: room } = options
  const { config, db, pool, box, blobs, changes, metrics, serverId, log } = platform
  const shut = (browsers: readonly EndedBrowser[]) =>
    browsers.forEach((browser) => room.sessions.shut(browser, 'deleted'))
  const shared = {
    db,
    pool,
    box,
    blobs,
    storage,
    instances,
    serverId,
    limits: {
      memoryBytes: config.BERTH_APP_MEMORY_MB * MB,
      processes: config.BERTH_SESSION_PROCESSES * 4,
      cpus: config.BERTH_SESSION_CPUS,
      homeBytes: config.BERTH_APP_DISK_MB * MB,
    },
    memoryMb: config.BERTH_APP_INVOCATION_MEMORY_MB,
    openings: { allow: [], toApi: options.toApi },
    log,
  }
  const locks = new DeploymentLocks({ db, box })
  const streams = new AppStreams(db)
  const waiting = new Waiting(db)
  const ledger = new Ledger({ db, pool, locks, changes, shut })
  const stops = new DeploymentStops({
    ...shared,
    endInvocations: (id, reason) => ledger.endAllOf(id, reason),
  })
  const appInstances = new AppInstances({
    ...shared,
    maxRuns: config.BERTH_APP_INVOCATIONS_PER_INSTANCE,
    idleSeconds: config.BERTH_APP_IDLE_SECONDS,
  })
  const runs = new Runs({
    db,
    pool,
    ledger,
    instances: appInstances,
    locks,
    serverId,
    log,
    onEnded: (id) => void stops.retireIfSpent(id),
  })
  const builder = new Builder({
    ...shared,
    npm: new Npm({ registry: config.BERTH_NPM_REGISTRY, environment: config.hostEnvironment }),
    pythonIndex: config.BERTH_PYTHON_INDEX,
    maxBuiltBytes: config.BERTH_APP_DISK_MB * MB,
    onRunning: (record) => {
      appInstances
        .warm(record)
        .catch((error: unknown) => log.warn({ err: error, deploymentId: record.id }, 'cannot warm an app'))
      void stops.retireSpent()
    },
  })
  const queue = new JobQueue({
    pool,
    serverId,
    log,
    kinds: {
      invocation: {
        maxConcurrent: config.BERTH_MAX_CONCURRENT_INVOCATIONS,
        work: (job) => runs.run(job),
      },
      deployment: { maxConcurrent: BUILDS_AT_ONCE, work: ({ taken }) => builder.buildNext(taken) },
    },
  })
  const leaseSeconds = config.BERTH_LEASE_SECONDS
  const reconciler = new Reconciler({
    ...shared,
    leaseSeconds,
    storeId: blobs.storeId,
    canRunApps: instances.shortcomings.length === 0,
    maxRuns: config.BERTH_APP_INVOCATIONS_PER_INSTANCE,
    queue,
    runs,
    ledger,
    builder,
    stops,
    appInstances,
  })
  const services = {
    db,
    pool,
    serverId,
    queue,
    defaultProject: findDefaultProject,
    shortcomings: instances.shortcomings,
  }
  const invocations = new InvocationService({
    ...services,
    locks,
    ledger,
    waiting,
    maxRuns: config.BERTH_APP_INVOCATIONS_PER_INSTANCE,
    maxInvocations: config.BERTH_MAX_CONCURRENT_INVOCATIONS,
    listBrowsers: (projectId, id) => browserStore.listOfInvocation(db, projectId, id),
    shut,
  })
  const deployments = new DeploymentService({
    ...services,
    box,
    blobs,
    storage,
    maxSourceBytes: config.BERTH_APP_SOURCE_MB * MB,
    stops,
  })

  changes.on('jobQueued', () => queue.look())
  changes.on('appEventsAdded', ({ deploymentId }) => streams.changed(deploymentId))
  changes.on('invocationChanged', ({ invocationId }) => {
    waiting.changed(invocationId)
    void runs.changed(invocationId)
  })
  changes.on('deploymentChanged', ({ deploymentId }) => void reconciler.deploymentChanged(deploymentId))
  metrics.gauge({
    name: 'berth_running_invocations',
    help: 'Invocations of apps that this server runs',
    read: () => runs.count,
  })

  return {
    routes: [
      ...appRoutes(db),
      ...deploymentRoutes(deployments),
      ...invocationRoutes(invocations, (from, record, caller) => room.browsers.show(from, record, caller)),
      ...followRoutes({ deployments, invocations, streams, locks }),
    ],
    get instanceIds() {
      return appInstances.ids
    },
    resume: async (found) => {
      await appInstances.resume(found)
      await runs.resume()
      await reconciler.resume()
    },
    close: async ({ endAll }) => {
      await reconciler.close()
      builder.close()
      await runs.close({ endAll })
      await queue.close()
      await appInstances.close({ keep: new Set(endAll ? [] : appInstances.ids) })
    },
  }
}
