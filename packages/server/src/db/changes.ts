import { sql } from 'kysely'
import { changeChannel } from './listener.ts'
import type { Db } from './schema.ts'

/** Tells every replica, this one included, once the transaction commits. */
export async function announceChange(tx: Db, change: string): Promise<void> {
  await sql`SELECT pg_notify(${changeChannel}, ${change})`.execute(tx)
}
