// Announces a change to every server, once its transaction commits. The others hear of it by NOTIFY, moments later;
// the server that makes the change must know before it answers its caller, so it also reads what was announced.
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
  // SAFETY: a name with the event of that name.
  announced.set(tx, [...(announced.get(tx) ?? []), { name, event } as Change])
  await sql`SELECT pg_notify(${changeChannel}, ${encodeChange(name, event)})`.execute(tx)
}

export function changesAnnouncedIn(tx: Db): readonly Change[] {
  return announced.get(tx) ?? []
}
