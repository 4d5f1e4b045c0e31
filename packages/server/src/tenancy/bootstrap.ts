// What a new database needs before the first request: the default project and the first key.
// Replicas that start together take turns; the first one does it, the others find it done.
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

/** Returns the first key when it was made just now. */
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
    // Before the commit: a key nobody can read would be worse than a file without a key in the
    // database, which the next start overwrites.
    await writeFileDurably(join(config.BERTH_DATA_DIR, 'api-key'), `${material.key}\n`, { mode: 0o600 })
    crashPoint('bootstrap')
    return material.key
  })
}
