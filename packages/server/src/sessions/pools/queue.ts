// The queue of callers that wait for a browser, stored as rows in order of arrival at any server.
import { sql } from 'kysely'
import { encodeChange } from '../../platform/database/change-events.ts'
import { changeChannel } from '../../platform/database/listener.ts'
import type { Db } from '../../platform/database/schema.ts'

/** A place in the queue expires when its server has not renewed it for this long. */
const ALIVE_SECONDS = 10
export const RENEW_MS = 3_000

const until = sql<string>`now() + make_interval(secs => ${sql.lit(ALIVE_SECONDS)})`

/** Returns the number of the place; smaller numbers come first. */
export async function queueUp(db: Db, poolId: string): Promise<string> {
  const { id } = await db
    .insertInto('pool_waiters')
    .values({ pool_id: poolId, alive_until: until })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function renewPlaces(db: Db, ids: readonly string[]): Promise<void> {
  await db
    .updateTable('pool_waiters')
    .set({ alive_until: until })
    .where('id', 'in', [...ids])
    .execute()
}

/** Removes the place in the same transaction as the lease. */
export async function leaveServed(tx: Db, id: string): Promise<void> {
  await tx.deleteFrom('pool_waiters').where('id', '=', id).execute()
}

/** Removes the place and announces the change, so that the next caller tries. */
export async function leaveQueue(db: Db, poolId: string, id: string): Promise<void> {
  await sql`
    WITH gone AS (DELETE FROM pool_waiters WHERE id = ${id} RETURNING id)
    SELECT pg_notify(${changeChannel}, ${encodeChange('poolChanged', { poolId })}) FROM gone`.execute(db)
}

/** Counts the callers ahead of this place; without a place, all that wait. */
export async function countAhead(tx: Db, poolId: string, id: string | undefined): Promise<number> {
  const { count } = await tx
    .selectFrom('pool_waiters')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('pool_id', '=', poolId)
    .where('alive_until', '>', sql<string>`now()`)
    .$if(id !== undefined, (query) => query.where('id', '<', id!))
    .executeTakeFirstOrThrow()
  return count
}

/** Removes places that were left behind by lost servers. */
export async function removeAbandonedPlaces(db: Db): Promise<void> {
  await db
    .deleteFrom('pool_waiters')
    .where('alive_until', '<', sql<string>`now() - interval '1 minute'`)
    .execute()
}
