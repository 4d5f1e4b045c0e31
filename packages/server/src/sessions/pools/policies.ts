// The Chromium policies of a pool's browsers. They may contain passwords and be large, so they are sealed, stored
// apart from the rest of the pool, and read only where needed.
import type { ChromePolicy } from '@berth/contracts/chrome-policy'
import { MAX_LISTED_BYTES } from '../policies/policies.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import * as store from './store.ts'
import type { PoolRecord, PoolSettings, StoredSettings } from './types.ts'

export class PoolPolicies {
  readonly #box: SealedBox

  constructor(box: SealedBox) {
    this.#box = box
  }

  /** Converts settings to the stored form. */
  seal(poolId: string, settings: PoolSettings): StoredSettings {
    const { chrome_policy: policy, ...browser } = settings.browser
    const sealedPolicy = policy ? this.#box.seal(JSON.stringify(policy), contextOf(poolId)) : null
    return { ...settings, browser, sealedPolicy }
  }

  async join<P extends PoolRecord>(db: Db, pool: P): Promise<P> {
    const [joined] = await this.#join(db, [pool])
    return joined!
  }

  /** Leaves out large policies: a hundred of them could be half a gigabyte. */
  joinListed<P extends PoolRecord>(db: Db, pools: readonly P[]): Promise<P[]> {
    return this.#join(db, pools, MAX_LISTED_BYTES)
  }

  async #join<P extends PoolRecord>(db: Db, pools: readonly P[], maxBytes?: number): Promise<P[]> {
    const sealed = await store.readPolicies(
      db,
      pools.map(({ id }) => id),
      maxBytes,
    )
    return pools.map((pool) => {
      const policy = sealed.get(pool.id)
      if (!policy) return pool
      const chrome_policy = JSON.parse(this.#box.open(policy, contextOf(pool.id))) as ChromePolicy
      return { ...pool, browser: { ...pool.browser, chrome_policy } }
    })
  }
}

const contextOf = (poolId: string) => `browser_pools/sealed_policy/${poolId}`
