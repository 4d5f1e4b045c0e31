import { sql } from 'kysely'
import type { Db } from '../../platform/database/schema.ts'

export interface FullWebhook {
  readonly id: string
  /** Deliveries above what it may keep. */
  readonly excess: number
}

export async function listFull(db: Db, max: number): Promise<FullWebhook[]> {
  const { rows } = await sql<FullWebhook>`
    SELECT webhook_id AS id, (count(*) - ${max})::int AS excess
    FROM webhook_deliveries GROUP BY webhook_id HAVING count(*) > ${max}`.execute(db)
  return rows
}

/** Returns how many it deleted: fewer than `limit` when there are no more. */
export async function deleteFinished(tx: Db, id: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM webhook_deliveries WHERE seq IN (
      SELECT seq FROM webhook_deliveries WHERE webhook_id = ${id} AND state <> 'pending'
      ORDER BY seq LIMIT ${limit} FOR UPDATE SKIP LOCKED)`.execute(tx)
  return Number(numAffectedRows)
}

/** The oldest that wait and that nobody sends just now. The webhook counts them. */
export async function dropWaiting(tx: Db, id: string, limit: number): Promise<number> {
  // Whoever also locks deliveries locks the webhook first.
  await sql`SELECT FROM webhooks WHERE id = ${id} FOR NO KEY UPDATE`.execute(tx)
  const { numAffectedRows } = await sql`
    DELETE FROM webhook_deliveries WHERE seq IN (
      SELECT seq FROM webhook_deliveries WHERE webhook_id = ${id} AND state = 'pending'
        AND (lease_until IS NULL OR lease_until < now())
      ORDER BY seq LIMIT ${limit} FOR UPDATE SKIP LOCKED)`.execute(tx)
  const dropped = Number(numAffectedRows)
  if (dropped === 0) return 0
  await sql`UPDATE webhooks SET dropped_events = dropped_events + ${dropped}, last_dropped_at = now()
    WHERE id = ${id}`.execute(tx)
  return dropped
}
