// The queue of who waits for a browser, as rows: in the order they came, whichever server they came to.
import { sql } from 'kysely'
import { encodeChange } from '../../platform/database/change-events.ts'
import { changeChannel } from '../../platform/database/listener.ts'
import type { Db } from '../../platform/database/schema.ts'

/** A place in the queue is given up when its server did not say for so long that its caller is still there. */
const ALIVE_SECONDS = 10
export const RENEW_MS = 3_000

const until = sql<string>`now() + make_interval(secs => ${sql.lit(ALIVE_SECONDS)})`

/** The number of the place; smaller ones come first. */
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

/** With what it waited for, in one transaction. */
export async function leaveServed(tx: Db, id: string): Promise<void> {
  await tx.deleteFrom('pool_waiters').where('id', '=', id).execute()
}

/** Whoever is next is told. */
export async function leaveQueue(db: Db, poolId: string, id: string): Promise<void> {
  await sql`
    WITH gone AS (DELETE FROM pool_waiters WHERE id = ${id} RETURNING id)
    SELECT pg_notify(${changeChannel}, ${encodeChange('poolChanged', { poolId })}) FROM gone`.execute(db)
}

/** How many come before that place; without one, all who wait do. */
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

/** Of servers that are no more. */
export async function removeAbandonedPlaces(db: Db): Promise<void> {
  await db
    .deleteFrom('pool_waiters')
    .where('alive_until', '<', sql<string>`now() - interval '1 minute'`)
    .execute()
}
