// The composition of everything around apps; app.ts puts it beside the rest.
import type { Duplex } from 'node:stream'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Blobs } from '../../platform/blobs/blobs.ts'
import type { Carrier } from '../../sessions/browsers/carried.ts'
import * as browserStore from '../../sessions/browsers/store.ts'
import type { EndedBrowser } from '../../sessions/browsers/types.ts'
import type { Config } from '../../config/config.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { Builder } from '../deployments/builder.ts'
import { deploymentRoutes } from '../deployments/routes.ts'
import { DeploymentService } from '../deployments/service.ts'
import * as deploymentStore from '../deployments/store.ts'
import type { Route } from '../../http/call.ts'
import { Ledger } from '../invocations/ledger.ts'
import { invocationRoutes, type ShowBrowser } from '../invocations/routes.ts'
import { Runs } from '../invocations/runs.ts'
import { InvocationService } from '../invocations/service.ts'
import * as invocationStore from '../invocations/store.ts'
import { Waiting } from '../invocations/waiting.ts'
import { findDefaultProject } from '../../tenancy/projects/store.ts'
import type { Instances, ReadyInstance } from '../../instances/instances.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { AppInstances } from './instances.ts'
import { DeploymentLock, type LockOf } from './lock.ts'
import { Npm } from './npm.ts'
import { JobQueue } from './queue.ts'
import { appRoutes } from './routes.ts'
import { AppStreams } from './stream.ts'

const MB = 1024 * 1024
const RECONCILE_MS = 10_000
/** Longer than any job waits for a server with room. */
const WAITED_SECONDS = 30
/** Beyond the lease, as for sessions: nobody runs anything of a server that was silent for so long. */
const LOST_MARGIN_SECONDS = 30
const BUILDS_AT_ONCE = 2
const MOST_LOCKS = 1_000

export interface AppsPartOptions {
  readonly config: Config
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly blobs: Blobs
  readonly instances: Instances
  readonly serverId: string
  readonly show: ShowBrowser
  /** Takes in a connection from inside an instance, for the API itself. */
  readonly toApi: (connection: Duplex) => void
  /** Browser sessions whose rows have just ended. */
  readonly shut: (browsers: readonly EndedBrowser[]) => void
  readonly log: Logger
}

export class AppsPart {
  readonly routes: readonly Route[]
  readonly carrier: Carrier
  readonly #options: AppsPartOptions
  readonly #queue: JobQueue
  readonly #builder: Builder
  readonly #appInstances: AppInstances
  readonly #runs: Runs
  readonly #deployments: DeploymentService
  readonly #streams: AppStreams
  readonly #waiting: Waiting
  readonly #ledger: Ledger
  readonly #locks = new Map<string, DeploymentLock>()
  readonly #timer: NodeJS.Timeout

  constructor(options: AppsPartOptions) {
    this.#options = options
    const { config, db, pool, box, blobs, instances, serverId, show, log, shut } = options
    const limits = {
      memoryBytes: config.BERTH_APP_MEMORY_MB * MB,
      processes: config.BERTH_SESSION_PROCESSES * 4,
      cpus: config.BERTH_SESSION_CPUS,
      homeBytes: config.BERTH_APP_DISK_MB * MB,
    }
    const memoryMb = config.BERTH_APP_INVOCATION_MEMORY_MB
    const openings = { allow: [], toApi: options.toApi }
    const shared = { db, pool, box, blobs, instances, serverId, limits, memoryMb, openings, log }
    const lockOf: LockOf = (id, from) => this.#lockOf(id, from)
    this.#streams = new AppStreams(db)
    this.#waiting = new Waiting(db)
    this.#ledger = new Ledger({
      pool,
      lockOf,
      onChange: (id, browsers) => {
        shut(browsers)
        this.#invocationChanged(id)
      },
    })
    this.#appInstances = new AppInstances({
      ...shared,
      mostRuns: config.BERTH_APP_INVOCATIONS_PER_INSTANCE,
      idleSeconds: config.BERTH_APP_IDLE_SECONDS,
    })
    this.#runs = new Runs({
      db,
      ledger: this.#ledger,
      instances: this.#appInstances,
      lockOf,
      serverId,
      log,
      onEnded: (id) => void this.#retireIfSpent(id),
    })
    this.#builder = new Builder({
      ...shared,
      npm: new Npm({ registry: config.BERTH_NPM_REGISTRY, environment: config.hostEnvironment }),
      pythonIndex: config.BERTH_PYTHON_INDEX,
      mostBuiltBytes: config.BERTH_APP_DISK_MB * MB,
      onRunning: (record) => {
        this.#appInstances
          .warm(record)
          .catch((error: unknown) => log.warn({ err: error, deploymentId: record.id }, 'cannot warm an app'))
        void this.#retireSpent()
      },
    })
    this.#queue = new JobQueue({
      pool,
      serverId,
      log,
      kinds: {
        invocation: {
          most: config.BERTH_MAX_CONCURRENT_INVOCATIONS,
          work: (id, taken) => this.#runs.run(id, taken),
        },
        deployment: { most: BUILDS_AT_ONCE, work: (id, taken) => this.#builder.build(id, taken) },
      },
    })
    const services = {
      db,
      pool,
      serverId,
      queue: () => this.#queue,
      lockOf,
      defaultProject: findDefaultProject,
      shortcomings: instances.shortcomings,
    }
    const invocations = new InvocationService({
      ...services,
      ledger: this.#ledger,
      waiting: this.#waiting,
      maxInvocations: config.BERTH_MAX_CONCURRENT_INVOCATIONS,
      listBrowsers: (projectId, id) => browserStore.listOfInvocation(db, projectId, id),
      shut,
    })
    this.#deployments = new DeploymentService({
      ...services,
      box,
      blobs,
      mostSourceBytes: config.BERTH_APP_SOURCE_MB * MB,
      endInvocations: (id, reason) => invocations.endOfDeployment(id, reason),
    })
    this.carrier = invocations
    this.routes = [
      ...appRoutes(db),
      ...deploymentRoutes(this.#deployments, { streams: this.#streams, lockOf }),
      ...invocationRoutes(invocations, { streams: this.#streams, lockOf, show }),
    ]
    this.#timer = setInterval(() => void this.#reconcile(), RECONCILE_MS).unref()
  }

  get runningCount(): number {
    return this.#runs.count
  }

  get instanceIds(): readonly string[] {
    return this.#appInstances.ids
  }

  /** Takes up what an earlier run of this server left. */
  async resume(found: Map<string, ReadyInstance>): Promise<void> {
    const { db } = this.#options
    await this.#appInstances.resume(found)
    await this.#runs.resume()
    if (!(await deploymentStore.hasWork(db))) return
    await this.#queue.start()
    await this.#requeue({ isRestarted: true })
  }

  /** Of announcements that are about apps; false for any other. */
  changed(what: string, id: string | undefined): boolean {
    if (what === 'app-jobs') this.#queue.look()
    else if (what === 'app-events' && id) this.#streams.changed(id)
    else if (what === 'invocation' && id) this.#invocationChanged(id)
    else if (what === 'deployment' && id) void this.#deploymentChanged(id)
    else return false
    return true
  }

  async close({ endAll }: { endAll: boolean }): Promise<void> {
    clearInterval(this.#timer)
    this.#builder.close()
    await this.#runs.close({ endAll })
    await this.#queue.close()
    await this.#appInstances.close({ keep: new Set(endAll ? [] : this.#appInstances.ids) })
  }

  #invocationChanged(id: string): void {
    this.#waiting.changed(id)
    void this.#runs.changed(id)
  }

  async #deploymentChanged(id: string): Promise<void> {
    const { db, serverId, log } = this.#options
    try {
      const record = await deploymentStore.findDeployment(db, null, id)
      if (record?.status !== 'stopped' && record?.status !== 'failed') return
      this.#builder.stop(id)
      await this.#appInstances.stop(id)
      if (record.server_id === serverId) await this.#deployments.removeFiles(id)
    } catch (error) {
      log.warn({ err: error, deploymentId: id }, 'cannot see what changed in a deployment')
    }
  }

  async #lockOf(deploymentId: string, db = this.#options.db): Promise<DeploymentLock> {
    const known = this.#locks.get(deploymentId)
    if (known) return known
    const record = await deploymentStore.findDeployment(db, null, deploymentId)
    if (!record) throw new Error(`Deployment "${deploymentId}" is gone`)
    const lock = DeploymentLock.open(this.#options.box, record)
    if (this.#locks.size >= MOST_LOCKS) this.#locks.clear()
    this.#locks.set(deploymentId, lock)
    return lock
  }

  async #retireIfSpent(deploymentId: string): Promise<void> {
    const { db } = this.#options
    const record = await deploymentStore.findDeployment(db, null, deploymentId).catch(() => undefined)
    if (record?.superseded_by) await this.#retireSpent()
  }

  async #retireSpent(): Promise<void> {
    const { db, log } = this.#options
    try {
      for (const record of await deploymentStore.listSpent(db)) await this.#deployments.retire(record)
    } catch (error) {
      log.warn({ err: error }, 'cannot retire deployments')
    }
  }

  async #requeue(options: { isRestarted: boolean }): Promise<void> {
    const { pool, serverId } = this.#options
    const lost = { ...options, waitedSeconds: WAITED_SECONDS }
    await inTransaction(pool, async ({ db: tx }) => {
      for (const id of await deploymentStore.requeue(tx, serverId, lost)) {
        await this.#queue.send(tx, 'deployment', { id, serverId })
      }
      for (const id of await invocationStore.requeue(tx, serverId, lost)) {
        await this.#queue.send(tx, 'invocation', { id, serverId })
      }
    })
  }

  /** Rows and reality, put together again now and then: what was missed, and what other servers left. */
  async #reconcile(): Promise<void> {
    const { db, config, serverId, log } = this.#options
    try {
      if (!(await deploymentStore.hasWork(db))) return
      await this.#queue.start()
      await this.#runs.look()
      await this.#requeue({ isRestarted: false })
      const silentSeconds = config.BERTH_LEASE_SECONDS + LOST_MARGIN_SECONDS
      for (const { id, isHomeLost } of await invocationStore.listLost(db, silentSeconds)) {
        const record = await invocationStore.findInvocation(db, null, id)
        if (!record) continue
        const reason = isHomeLost
          ? 'worker_lost: the server that has its app is gone'
          : 'Its deployment is not running any more'
        await this.#ledger.end(record, { status: 'failed', reason, output: null })
      }
      for (const record of await deploymentStore.listOrphans(db, silentSeconds)) {
        await this.#builder.giveUp(record, 'The server that has its source is gone; deploy it again')
      }
      await this.#retireSpent()
      for (const id of await deploymentStore.listEndedWithBlobs(db, serverId))
        await this.#deployments.removeFiles(id)
    } catch (error) {
      log.warn({ err: error }, 'cannot reconcile apps')
    }
  }
}

/** As an instance sees it, which has all of /usr. */
