// Moves every sealed record to the current master key. Each row changes separately, so a kill in the
// middle loses nothing: the ring keeps the old and new keys until no record needs the old one.
import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Db, Tables } from '../database/schema.ts'
import { inTransaction } from '../database/transaction.ts'
import type { Keyring } from './keyring.ts'
import type { SealedBox } from './sealed-box.ts'

interface SealedColumn {
  readonly table: keyof Tables
  readonly column: string
}

/** Every column with sealed records. Add new ones here. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'idempotency_keys', column: 'response' },
  { table: 'service_secrets', column: 'sealed' },
  { table: 'replays', column: 'sealed_key' },
  { table: 'replays', column: 'chapters' },
  { table: 'telemetry_sessions', column: 'sealed_key' },
  { table: 'telemetry_destinations', column: 'sealed_headers' },
  { table: 'proxies', column: 'credentials' },
  { table: 'proxies', column: 'sealed_ca_bundle' },
  { table: 'extensions', column: 'sealed_key' },
  { table: 'browser_policies', column: 'sealed' },
  { table: 'browser_pools', column: 'sealed_policy' },
  { table: 'profile_versions', column: 'sealed_key' },
  { table: 'deployments', column: 'sealed_key' },
  { table: 'credentials', column: 'sealed_values' },
  { table: 'credentials', column: 'sealed_totp' },
  { table: 'credentials', column: 'sealed_mailbox' },
  { table: 'credential_providers', column: 'sealed_token' },
  { table: 'auth_connections', column: 'memory' },
  { table: 'auth_connections', column: 'sealed_captcha_solver' },
  { table: 'auth_flows', column: 'handoff_code' },
  { table: 'auth_flows', column: 'submission' },
  { table: 'auth_flows', column: 'outcome' },
  { table: 'auth_imports', column: 'sealed_session' },
  { table: 'credential_passkeys', column: 'sealed_key' },
  { table: 'auth_steps', column: 'sealed' },
  { table: 'auth_steps', column: 'sealed_page' },
  { table: 'audit_export_destinations', column: 'sealed_secret' },
  { table: 'handovers', column: 'sealed_message' },
  { table: 'handovers', column: 'sealed_note' },
  { table: 'webhooks', column: 'sealed_secret' },
  { table: 'webhooks', column: 'sealed_old_secret' },
]

const BATCH = 500

/** Returns how many records were moved. */
export async function rewrapAll(
  pool: Pool,
  { box, ring }: { box: SealedBox; ring: Keyring },
): Promise<number> {
  let moved = 0
  for (const { table, column } of sealedColumns) {
    let batch: number
    do {
      batch = await inTransaction(pool, async ({ db: tx }) => {
        const { rows } = await sql<{ ctid: string; sealed: Buffer }>`
          SELECT ctid::text, ${sql.ref(column)} AS sealed FROM ${sql.table(table)}
          WHERE ${isUnderOtherKey(column, ring.current.kid)} LIMIT ${BATCH} FOR NO KEY UPDATE`.execute(tx)
        for (const row of rows) {
          await sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${box.rewrap(row.sealed)}
            WHERE ctid = ${row.ctid}::tid`.execute(tx)
        }
        return rows.length
      })
      moved += batch
    } while (batch === BATCH)
  }
  return moved
}

function isUnderOtherKey(column: string, kid: string) {
  const position = 2
  return sql`${sql.ref(column)} IS NOT NULL
    AND substring(${sql.ref(column)} FROM ${sql.lit(position)} FOR 8) <> ${Buffer.from(kid, 'hex')}`
}

/**
 * The database stores which master keys its records use. A server without these keys is refused at
 * its start, not at the first secret that it cannot read.
 */
export async function registerMasterKeys(db: Db, ring: Keyring): Promise<void> {
  const rows = await db.selectFrom('master_keys').select('kid').execute()
  const missing = rows.filter((row) => !ring.find(row.kid)).map((row) => row.kid)
  if (missing.length > 0) {
    throw new Error(
      `Cannot use this database: its secrets are under master key ${missing.join(', ')}, which is neither in the data directory nor in BERTH_MASTER_KEY`,
    )
  }
  await db
    .insertInto('master_keys')
    .values({ kid: ring.current.kid })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function forgetOtherMasterKeys(db: Db, ring: Keyring): Promise<void> {
  await db.deleteFrom('master_keys').where('kid', '<>', ring.current.kid).execute()
  if (ring.isFile) await ring.keepOnly(ring.current.kid)
}
