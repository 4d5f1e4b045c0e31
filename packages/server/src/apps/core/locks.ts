// Finds a deployment's lock and caches it, because every log line needs it.
import type { Db } from '../../platform/database/schema.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { DeploymentLock } from './lock.ts'

const MAX_LOCKS = 1_000

export class DeploymentLocks {
  readonly #db: Db
  readonly #box: SealedBox
  readonly #known = new Map<string, DeploymentLock>()

  constructor({ db, box }: { db: Db; box: SealedBox }) {
    this.#db = db
    this.#box = box
  }

  /** In a transaction, pass its `db`: waiting for a second connection could cause a deadlock. */
  async of(deploymentId: string, db: Db = this.#db): Promise<DeploymentLock> {
    const known = this.#known.get(deploymentId)
    if (known) return known
    const record = await db
      .selectFrom('deployments')
      .select(['id', 'sealed_key'])
      .where('id', '=', deploymentId)
      .executeTakeFirst()
    if (!record) throw new Error(`Deployment "${deploymentId}" is gone`)
    const lock = DeploymentLock.open(this.#box, record)
    if (this.#known.size >= MAX_LOCKS) this.#known.clear()
    this.#known.set(deploymentId, lock)
    return lock
  }
}
