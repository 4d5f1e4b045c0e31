// Keeps pools in step with the profile that their browsers start from.
import type { Db } from '../../platform/database/schema.ts'
import { endPooled } from './pooled-browsers.ts'
import * as store from './store.ts'

/**
 * Ends waiting browsers that began with an older version of the profile, so that new ones are made. It runs in the
 * transaction of the save: no pool goes on with a version that is gone.
 */
export async function refreshPoolsOf(tx: Db, projectId: string, profileId: string): Promise<void> {
  for (const poolId of await store.listRefreshedBy(tx, projectId, profileId)) {
    await endPooled(tx, poolId, { reason: 'deleted' })
  }
}
