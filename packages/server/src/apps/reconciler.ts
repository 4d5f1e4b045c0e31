// Compares the rows of apps with reality at intervals: finds missed changes and what lost servers left behind.
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Db } from '../platform/database/schema.ts'
import { inTransaction } from '../platform/database/transaction.ts'
import { showAppStore } from './core/store.ts'
import type { JobQueue } from './core/queue.ts'
import type { Builder } from './deployments/builder.ts'
import type { DeploymentStops } from './deployments/stops.ts'
import * as deploymentStore from './deployments/store.ts'
import type { AppInstances } from './invocations/app-instances.ts'
import type { Ledger } from './invocations/ledger.ts'
import type { Runs } from './invocations/runs.ts'
import * as invocationStore from './invocations/store.ts'

const RECONCILE_MS = 10_000
/** Longer than any job waits for a server with room. */
const WAITED_SECONDS = 30
/** Added to the lease, as for sessions: a server that was silent for this long runs nothing any more. */
const LOST_MARGIN_SECONDS = 30

export interface ReconcilerOptions {
  readonly db: Db
  readonly pool: Pool
  readonly serverId: string
  readonly leaseSeconds: number
  /** Where this server reads files. */
  readonly storeId: string
  readonly canRunApps: boolean
  /** Invocations of one instance. */
  readonly maxRuns: number
  readonly queue: JobQueue
  readonly runs: Runs
  readonly ledger: Ledger
  readonly builder: Builder
  readonly stops: DeploymentStops
  readonly appInstances: AppInstances
  readonly log: Logger
}

export class Reconciler {
  readonly #options: ReconcilerOptions
  readonly #timer: NodeJS.Timeout

  constructor(options: ReconcilerOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#reconcile(), RECONCILE_MS).unref()
  }

  /** Other servers send this one nothing more. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    const { db, serverId, log } = this.#options
    await showAppStore(db, serverId, null).catch((error: unknown) =>
      log.info({ err: error }, 'cannot tell other servers that this one runs no apps any more'),
    )
  }

  /** Requeues the jobs that an earlier run of this server left. */
  async resume(): Promise<void> {
    const { db, queue, serverId, storeId, canRunApps } = this.#options
    await showAppStore(db, serverId, canRunApps ? storeId : null)
    if (!canRunApps || !(await deploymentStore.hasWork(db))) return
    await queue.start()
    await this.#requeue({ isRestarted: true })
  }

  /** Called when this or another server changed a deployment. */
  async deploymentChanged(id: string): Promise<void> {
    const { db, ledger, builder, stops, appInstances, serverId, log } = this.#options
    try {
      const record = await deploymentStore.findDeployment(db, null, id)
      if (record?.status !== 'stopped' && record?.status !== 'failed') return
      // Before their instance ends; otherwise they would say that it was lost.
      if (record.status === 'stopped') await ledger.endAllOf(id, 'Its deployment was deleted')
      builder.stop(id)
      await appInstances.stop(id)
      if (record.server_id === serverId) await stops.removeFiles(id)
    } catch (error) {
      log.warn({ err: error, deploymentId: id }, 'cannot read the changes of a deployment')
    }
  }

  async #requeue({ isRestarted }: { isRestarted: boolean }): Promise<void> {
    const { pool, queue, serverId, storeId, maxRuns } = this.#options
    const silentSeconds = this.#silentSeconds
    const lost = { serverId, storeId, isRestarted, waitedSeconds: WAITED_SECONDS, silentSeconds }
    await inTransaction(pool, async ({ db: tx }) => {
      for (const id of await deploymentStore.requeue(tx, lost)) {
        await queue.send(tx, 'deployment', { id, serverId })
      }
      for (const { id, deploymentId } of await invocationStore.takeBack(tx, lost)) {
        const sentTo = await invocationStore.chooseServer(tx, { deploymentId, serverId, maxRuns })
        await invocationStore.sendTo(tx, id, sentTo)
        await queue.send(tx, 'invocation', { id, serverId: sentTo })
      }
    })
  }

  get #silentSeconds(): number {
    return this.#options.leaseSeconds + LOST_MARGIN_SECONDS
  }

  async #reconcile(): Promise<void> {
    const { db, queue, runs, ledger, builder, stops, serverId, storeId, canRunApps, log } = this.#options
    try {
      if (!(await deploymentStore.hasWork(db))) return
      await queue.start()
      await runs.look()
      if (canRunApps) await this.#requeue({ isRestarted: false })
      const silentSeconds = this.#silentSeconds
      for (const { id, isServerLost } of await invocationStore.listLost(db, silentSeconds)) {
        const record = await invocationStore.findInvocation(db, null, id)
        if (!record) continue
        const reason = isServerLost
          ? 'worker_lost: its server is gone'
          : 'Its deployment is not running any more'
        await ledger.end(record, { status: 'failed', reason, output: null })
      }
      for (const record of await deploymentStore.listOrphans(db, silentSeconds)) {
        await builder.giveUp(record, 'The server that has its source is gone; deploy it again')
      }
      await stops.retireSpent()
      for (const id of await deploymentStore.listEndedWithBlobs(db, { serverId, storeId }))
        await stops.removeFiles(id)
    } catch (error) {
      log.warn({ err: error }, 'cannot reconcile apps')
    }
  }
}
