// The log of deliveries, as people read it, and what they change in it.
import { sql } from 'kysely'
import type { DeliveryState } from '@berth/contracts/webhooks'
import type { Db } from '../../platform/database/schema.ts'
import { GIVE_UP_HOURS } from './retry.ts'
import { deliveryColumns, type Attempt, type DeliveryRecord, type Message } from './types.ts'

const MAX_SHOWN_ATTEMPTS = 100

export async function listDeliveries(
  db: Db,
  webhookId: string,
  options: { state?: DeliveryState; type?: string; limit: number; offset: number },
): Promise<DeliveryRecord[]> {
  const { state, type, limit, offset } = options
  let query = db.selectFrom('webhook_deliveries').select(deliveryColumns).where('webhook_id', '=', webhookId)
  if (state) query = query.where('state', '=', state)
  if (type) query = query.where('event_type', '=', type)
  return query.orderBy('seq', 'desc').limit(limit).offset(offset).execute()
}

export async function findDelivery(
  db: Db,
  webhookId: string,
  eventId: string,
): Promise<DeliveryRecord | undefined> {
  return db
    .selectFrom('webhook_deliveries')
    .select(deliveryColumns)
    .where('webhook_id', '=', webhookId)
    .where('event_id', '=', eventId)
    .executeTakeFirst()
}

export async function listAttempts(db: Db, seq: string) {
  return db
    .selectFrom('webhook_attempts')
    .select(['number', 'started_at', 'duration_ms', 'status', 'answer', 'error'])
    .where('delivery_seq', '=', seq)
    .orderBy('number', 'desc')
    .limit(MAX_SHOWN_ATTEMPTS)
    .execute()
}

export async function insertAttempt(
  tx: Db,
  seq: string,
  number: number,
  { startedAt, durationMs, status, answer, error }: Attempt,
): Promise<void> {
  await tx
    .insertInto('webhook_attempts')
    .values({
      delivery_seq: seq,
      number,
      started_at: startedAt,
      duration_ms: durationMs,
      status,
      answer,
      error,
    })
    .execute()
}

/** A test is never tried again. */
export async function insertTest(
  tx: Db,
  webhookId: string,
  { message, attempt }: { message: Message; attempt: Attempt },
): Promise<void> {
  const { seq } = await tx
    .insertInto('webhook_deliveries')
    .values({
      webhook_id: webhookId,
      event_id: message.id,
      event_type: message.type,
      subject: webhookId,
      data: JSON.stringify(message.data),
      state: attempt.error === null ? 'delivered' : 'failed',
      created_at: message.timestamp,
      attempts: 1,
      finished_at: sql<string>`now()`,
    })
    .returning('seq')
    .executeTakeFirstOrThrow()
  await insertAttempt(tx, seq, 1, attempt)
}

/** Is tried for another day, at once. Undefined when it does not exist. */
export async function redeliver(
  tx: Db,
  webhookId: string,
  eventId: string,
): Promise<DeliveryRecord | undefined> {
  return tx
    .updateTable('webhook_deliveries')
    .set({
      state: 'pending',
      tried_from: sql<string>`now()`,
      next_attempt_at: sql<string>`now()`,
      failures: 0,
      finished_at: null,
    })
    .where('webhook_id', '=', webhookId)
    .where('event_id', '=', eventId)
    .returning(deliveryColumns)
    .executeTakeFirst()
}

/** What was wrong may be right now. */
export async function tryAllNow(tx: Db, webhookId: string): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ next_attempt_at: sql<string>`now()` })
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'pending')
    .where('next_attempt_at', '>', sql<string>`now()`)
    .execute()
}

/** Of disabled webhooks, and of those that get more than their receivers take. */
export async function giveUpOld(tx: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE webhook_deliveries SET state = 'failed', finished_at = now() WHERE seq IN (
      SELECT seq FROM webhook_deliveries WHERE state = 'pending'
        AND tried_from < now() - make_interval(hours => ${sql.lit(GIVE_UP_HOURS + 1)})
        AND (lease_until IS NULL OR lease_until < now())
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`.execute(tx)
  return Number(numAffectedRows)
}

export async function deleteFinishedBefore(tx: Db, time: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM webhook_deliveries WHERE seq IN (
      SELECT seq FROM webhook_deliveries WHERE finished_at < ${time} LIMIT ${limit})`.execute(tx)
  return Number(numAffectedRows)
}

/** An event that was being told when its webhook was deleted may come a moment later, so all are looked at each time. */
export async function deleteOfDeletedWebhooks(tx: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM webhook_deliveries WHERE seq IN (
      SELECT seq FROM webhooks JOIN webhook_deliveries ON webhook_id = webhooks.id
      WHERE webhooks.deleted_at IS NOT NULL LIMIT ${limit})`.execute(tx)
  return Number(numAffectedRows)
}
