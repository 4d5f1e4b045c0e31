// Which numbers of a session's events go to which destination.
import { sql } from 'kysely'
import { announceChange } from '../../../platform/database/changes.ts'
import type { Db } from '../../../platform/database/schema.ts'

/**
 * From now on, the session's events go to this destination, or to none. The caller has locked the row of the session.
 * Events that are not stored yet count as later ones.
 */
export async function bindExport(tx: Db, sessionId: string, destinationId: string | null): Promise<void> {
  await tx
    .updateTable('browsers')
    .set({ telemetry_destination_id: destinationId })
    .where('id', '=', sessionId)
    .execute()
  const storedSeq = sql<string>`coalesce((SELECT last_seq FROM telemetry_sessions WHERE session_id = ${sessionId}), 0)`
  const ended = await tx
    .updateTable('telemetry_exports')
    .set({ until_seq: storedSeq })
    .where('session_id', '=', sessionId)
    .where('until_seq', 'is', null)
    .where('destination_id', 'is distinct from', destinationId)
    .returning('destination_id')
    .execute()
  if (destinationId !== null) {
    await tx
      .insertInto('telemetry_exports')
      .values({ session_id: sessionId, destination_id: destinationId, cursor: storedSeq })
      // It exports there already.
      .onConflict((conflict) => conflict.column('session_id').where('until_seq', 'is', null).doNothing())
      .execute()
  }
  const one = destinationId ?? ended[0]?.destination_id
  // One announcement makes every server look at all destinations.
  if (one !== undefined) await announceChange(tx, 'telemetryExportChanged', { destinationId: one })
}
