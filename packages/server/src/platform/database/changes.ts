// Telling every replica of a change, once its transaction commits. The others hear of it by NOTIFY,
// moments later; the one that makes the change must know before it answers its caller.
import { sql } from 'kysely'
import { changeChannel } from './listener.ts'
import type { Db } from './schema.ts'

const announced = new WeakMap<Db, string[]>()

export async function announceChange(tx: Db, change: string): Promise<void> {
  announced.set(tx, [...(announced.get(tx) ?? []), change])
  await sql`SELECT pg_notify(${changeChannel}, ${change})`.execute(tx)
}

export function changesAnnouncedIn(tx: Db): readonly string[] {
  return announced.get(tx) ?? []
}
