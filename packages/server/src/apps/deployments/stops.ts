// How a deployment stops: on request, or after a newer one replaced it and its last invocation has ended.
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { appendEvents } from '../core/events.ts'
import { DeploymentLock } from '../core/lock.ts'
import { endAppVersions } from '../core/store.ts'
import type { Blobs } from '../../platform/blobs/blobs.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { deleteDeploymentKey } from '../../tenancy/api-keys/store.ts'
import * as store from './store.ts'
import type { DeploymentRecord } from './types.ts'

export interface DeploymentStopsOptions {
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly blobs: Blobs
  readonly serverId: string
  /** Ends all invocations of a stopped deployment. */
  readonly endInvocations: (deploymentId: string, reason: string) => Promise<void>
  readonly log: Logger
}

export class DeploymentStops {
  readonly #options: DeploymentStopsOptions

  constructor(options: DeploymentStopsOptions) {
    this.#options = options
  }

  /** Retires all replaced deployments without work. */
  async retireSpent(): Promise<void> {
    const { db, log } = this.#options
    try {
      for (const record of await store.listSpent(db)) await this.retire(record)
    } catch (error) {
      log.warn({ err: error }, 'cannot retire deployments')
    }
  }

  /** Called when an invocation has ended: it may have been the last one of a replaced deployment. */
  async retireIfSpent(deploymentId: string): Promise<void> {
    const { db } = this.#options
    const record = await store.findDeployment(db, null, deploymentId).catch(() => undefined)
    if (record?.superseded_by) await this.retireSpent()
  }

  /** Stops a deployment that nobody needs any more. */
  async retire(record: DeploymentRecord): Promise<void> {
    const reason = `Superseded by deployment ${record.superseded_by}`
    const isStopped = await inTransaction(this.#options.pool, async ({ db: tx }) => {
      // Checked under the lock, because a new invocation may have arrived.
      if (!(await store.holdRunning(tx, record.id)) || (await store.isBusy(tx, record.id))) return false
      return this.stopIn(tx, record, reason)
    })
    if (isStopped) await this.afterStop(record, reason)
  }

  async stopIn(tx: Db, record: DeploymentRecord, reason: string): Promise<boolean> {
    if (!(await store.markStopped(tx, record.id, reason))) return false
    await endAppVersions(tx, record.id)
    await forgetKey(tx, record)
    const lock = DeploymentLock.open(this.#options.box, record)
    const change = { status: 'stopped', reason }
    await appendEvents(tx, { deploymentId: record.id, lock }, [{ kind: 'deployment_state', change }])
    await announceChange(tx, 'deploymentChanged', { deploymentId: record.id })
    return true
  }

  async afterStop(record: DeploymentRecord, reason: string): Promise<void> {
    crashPoint('deployment-stopped')
    await this.#options.endInvocations(record.id, reason)
    // If they are where this server cannot reach them, the one that can removes them.
    const { blobs, serverId } = this.#options
    if (blobs.isRemote || record.server_id === serverId) await this.removeFiles(record.id)
  }

  /** Deletes the row first: the sweep removes bytes without a row, but nothing repairs a row without bytes. */
  async removeFiles(id: string): Promise<void> {
    const { db, pool, blobs } = this.#options
    const ids = await inTransaction(pool, async ({ db: tx }) => {
      const released = await store.releaseBlobs(tx, id)
      await blobs.forget(tx, released)
      return released
    })
    for (const blob of ids) await blobs.remove(db, blob)
  }
}

/** Makes every server drop the key from its cache. */
export async function forgetKey(tx: Db, { api_key_id }: DeploymentRecord): Promise<void> {
  const publicId = await deleteDeploymentKey(tx, api_key_id)
  if (publicId !== undefined) await announceChange(tx, 'keyChanged', { publicId: publicId })
}
