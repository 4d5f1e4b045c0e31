import { sql } from 'kysely'
import type { HandoverOutcome, HandoverRowState } from '@berth/contracts/handovers'
import type { Db } from '../../platform/database/schema.ts'

export interface HandoverRecord {
  readonly id: string
  readonly browser_id: string
  /** Of a version that did not seal it; otherwise empty. */
  readonly message: string
  readonly sealed_message: Buffer | null
  readonly state: HandoverRowState
  /** Of a version that did not seal it. */
  readonly note: string | null
  readonly sealed_note: Buffer | null
  readonly created_at: string
  readonly expires_at: string
  readonly finished_at: string | null
  readonly is_expired: boolean
  /** Its session has ended, or somebody else has the browser now. */
  readonly is_session_over: boolean
}

const columns = [
  'id',
  'browser_id',
  'message',
  'sealed_message',
  'state',
  'note',
  'sealed_note',
  'created_at',
  'expires_at',
  'finished_at',
] as const

export async function insertHandover(
  tx: Db,
  values: { id: string; browserId: string; leaseNumber: number; sealedMessage: Buffer; expiresAt: Date },
): Promise<HandoverRecord> {
  const { id, browserId, leaseNumber, sealedMessage, expiresAt } = values
  const row = await tx
    .insertInto('handovers')
    .values({
      id,
      browser_id: browserId,
      lease_number: leaseNumber,
      message: '',
      sealed_message: sealedMessage,
      expires_at: expiresAt,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  return { ...row, is_expired: false, is_session_over: false }
}

export async function countWaiting(db: Db, browserId: string): Promise<number> {
  const { count } = await db
    .selectFrom('handovers')
    .select((select) => select.fn.countAll<string>().as('count'))
    .where('browser_id', '=', browserId)
    .where('state', '=', 'waiting')
    .where('expires_at', '>', sql<string>`now()`)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function findHandover(
  db: Db,
  browserId: string,
  id: string,
): Promise<HandoverRecord | undefined> {
  return db
    .selectFrom('handovers')
    .innerJoin('browsers', 'browsers.id', 'handovers.browser_id')
    .select([
      ...columns.map((column) => `handovers.${column}` as const),
      sql<boolean>`handovers.expires_at <= now()`.as('is_expired'),
      sql<boolean>`browsers.deleted_at IS NOT NULL OR browsers.lease_number <> handovers.lease_number`.as(
        'is_session_over',
      ),
    ])
    .where('handovers.browser_id', '=', browserId)
    .where('handovers.id', '=', id)
    .executeTakeFirst()
}

/** False when it was over already. */
export async function endHandover(
  tx: Db,
  id: string,
  { outcome, sealedNote }: { outcome: HandoverOutcome; sealedNote: Buffer | null },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('handovers')
    .set({ state: outcome, sealed_note: sealedNote, finished_at: sql<string>`now()` })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function deleteHandoversBefore(tx: Db, end: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM handovers WHERE id IN (
      SELECT id FROM handovers WHERE expires_at < ${end} LIMIT ${limit})`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}
