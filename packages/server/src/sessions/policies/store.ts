import { sql } from 'kysely'
import type { Db } from '../../platform/database/schema.ts'

export async function insertPolicy(
  tx: Db,
  policy: { browserId: string; sealed: Buffer; sizeBytes: number },
): Promise<void> {
  const { browserId: browser_id, sealed, sizeBytes: size_bytes } = policy
  await tx.insertInto('browser_policies').values({ browser_id, sealed, size_bytes }).execute()
}

/** Sealed policies of these sessions, without those that are too large. */
export async function findPolicies(
  db: Db,
  browserIds: readonly string[],
  { maxBytes }: { maxBytes: number },
): Promise<{ browser_id: string; sealed: Buffer }[]> {
  return db
    .selectFrom('browser_policies')
    .select(['browser_id', 'sealed'])
    .where('browser_id', 'in', [...browserIds])
    .where('size_bytes', '<=', maxBytes)
    .execute()
}

/** Deletes policies of sessions that ended before this time; returns how many. */
export async function deletePoliciesBefore(tx: Db, end: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM browser_policies WHERE browser_id IN (
      SELECT browser_id FROM browser_policies JOIN browsers ON browsers.id = browser_policies.browser_id
      WHERE browsers.deleted_at < ${end} LIMIT ${limit})`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}
