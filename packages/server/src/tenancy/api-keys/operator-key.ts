import type { Config } from '../../config/config.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { KeyMaterial } from './key.ts'
import { insertApiKey } from './store.ts'

/** Inserts an organisation-wide key whose creator is the operator named in the settings, not another key. */
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
    scopes: null,
    makerId: null,
    notAfter: null,
  })
}
