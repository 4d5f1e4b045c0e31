// Refreshes pools when the profile that their browsers start from changes.
import type { Db } from '../../platform/database/schema.ts'
import { endPooled } from './pooled-browsers.ts'
import * as store from './store.ts'

/**
 * Ends waiting browsers that started with an older version of the profile, so that new ones are made. It runs in the
 * transaction of the save, so no pool keeps an outdated version.
 */
export async function refreshPoolsOf(tx: Db, projectId: string, profileId: string): Promise<void> {
  for (const poolId of await store.listRefreshedBy(tx, projectId, profileId)) {
    await endPooled(tx, poolId, { reason: 'deleted' })
  }
}
