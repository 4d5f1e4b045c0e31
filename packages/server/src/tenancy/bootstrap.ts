// Creates what a new database needs before the first request: the default project and the first key.
// Replicas that start together run this one after the other; the first does the work.
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Pool } from 'pg'
import { keyMaterial, newKey } from './api-keys/key.ts'
import { insertOperatorKey } from './api-keys/operator-key.ts'
import { hasAnyApiKey } from './api-keys/store.ts'
import type { Config } from '../config/config.ts'
import { crashPoint } from '../platform/errors/crash-point.ts'
import { inTransaction } from '../platform/database/transaction.ts'
import { insertProject } from './projects/store.ts'
import { writeFileDurably } from '../platform/files/durable-file.ts'
import type { Keyring } from '../platform/secrets/keyring.ts'
import { registerMasterKeys } from '../platform/secrets/rotation.ts'

const BOOTSTRAP_LOCK = 7_236_814_006

/** Returns the first key if this call made it up. A key that the operator chose is in no file: they have it. */
export async function bootstrap(
  pool: Pool,
  { config, ring }: { config: Config; ring: Keyring },
): Promise<string | undefined> {
  return inTransaction(pool, async ({ db: tx }) => {
    await sql`SELECT pg_advisory_xact_lock(${BOOTSTRAP_LOCK})`.execute(tx)
    await registerMasterKeys(tx, ring)
    if (await hasAnyApiKey(tx)) return undefined
    await insertProject(tx, 'Default', true)
    const material = config.BERTH_API_KEY ? keyMaterial(config.BERTH_API_KEY) : newKey()
    await insertOperatorKey(tx, { config, name: 'First key', material })
    if (config.BERTH_API_KEY) {
      crashPoint('bootstrap')
      return undefined
    }
    // Written before the commit: a key that nobody can read would be worse than a file whose key is not
    // in the database, because the next start overwrites the file.
    await writeFileDurably(join(config.BERTH_DATA_DIR, 'api-key'), `${material.key}\n`, { mode: 0o600 })
    crashPoint('bootstrap')
    return material.key
  })
}
