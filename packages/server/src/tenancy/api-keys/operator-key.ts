import type { Config } from '../../config/config.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { KeyMaterial } from './key.ts'
import { insertApiKey } from './store.ts'

/** An organisation-wide key that nobody's key made: its creator is the operator of the settings. */
export async function insertOperatorKey(
  tx: Db,
  { config, name, material }: { config: Config; name: string; material: KeyMaterial },
): Promise<void> {
  await insertApiKey(tx, {
    material,
    name,
    projectId: null,
    creator: {
      id: config.BERTH_OPERATOR_ID,
      name: config.BERTH_OPERATOR_NAME,
      email: config.BERTH_OPERATOR_EMAIL,
    },
    lifetimeDays: null,
  })
}
