// Announces a change to every server when its transaction commits. Other servers receive it through NOTIFY a moment
// later. The server that makes the change must know before it answers, so it also reads the announced list.
import { sql } from 'kysely'
import { encodeChange, type Change, type ChangeEvents, type ChangeName } from './change-events.ts'
import { changeChannel } from './listener.ts'
import type { Db } from './schema.ts'

const announced = new WeakMap<Db, Change[]>()

export async function announceChange<Name extends ChangeName>(
  tx: Db,
  name: Name,
  event: ChangeEvents[Name],
): Promise<void> {
  // SAFETY: the name and event belong together.
  announced.set(tx, [...(announced.get(tx) ?? []), { name, event } as Change])
  await sql`SELECT pg_notify(${changeChannel}, ${encodeChange(name, event)})`.execute(tx)
}

export function changesAnnouncedIn(tx: Db): readonly Change[] {
  return announced.get(tx) ?? []
}
