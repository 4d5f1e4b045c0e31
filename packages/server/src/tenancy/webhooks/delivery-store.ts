// What servers read and write to deliver events. A delivery belongs to the server that has leased it. Whoever writes locks
// the webhook first, then its deliveries.
import { sql, type Selectable } from 'kysely'
import type { Db, WebhooksTable } from '../../platform/database/schema.ts'
import { insertAttempt } from './delivery-log-store.ts'
import { GIVE_UP_HOURS, retryDelaysMs } from './retry.ts'
import type { Attempt, Message, WebhookRecord } from './types.ts'

/** Longer than any attempt, so that no two servers send at once. */
const LEASE_SECONDS = 30
/** A receiver gets so many events at once, from all servers together. */
const MAX_PER_WEBHOOK = 8
/** One that fails again and again gets one at a time. */
export const FAILING_AFTER = 5
const MAX_WEBHOOKS = 200
/** A webhook that always succeeds is not written each time. */
const SUCCESS_IS_NEWS_SECONDS = 5

export const hasListeners = async (db: Db): Promise<boolean> => {
  const row = await db
    .selectFrom('webhooks')
    .select('id')
    .where('deleted_at', 'is', null)
    .where('status', '=', 'enabled')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

type Listener = Pick<
  Selectable<WebhooksTable>,
  | 'id'
  | 'project_id'
  | 'url'
  | 'sealed_secret'
  | 'sealed_old_secret'
  | 'old_secret_until'
  | 'consecutive_failures'
>

/** The right to send one event, until it runs out. */
export interface Claim {
  readonly seq: string
  readonly leaseId: string
  readonly subject: string
  readonly webhook: Listener
  readonly message: Message
}

export interface ClaimOptions {
  readonly serverId: string
  readonly leaseId: string
  readonly limit: number
  /** Projects and kinds of webhooks that have no place at the moment. */
  readonly withoutProjects: readonly string[]
  readonly withoutFailing: boolean
}

const isFree = (alias: string) =>
  sql<boolean>`(${sql.ref(`${alias}.lease_until`)} IS NULL OR ${sql.ref(`${alias}.lease_until`)} < now())`

/** Events that are due, and before which no other event of their subject waits. Must run in a transaction. */
export async function claimDue(tx: Db, options: ClaimOptions): Promise<Claim[]> {
  const listeners = await lockListeners(tx, options)
  if (listeners.length === 0) return []
  const { serverId, leaseId, limit } = options
  const ids = listeners.map(({ id }) => id)
  const maxima = listeners.map((each) => (isFailing(each) ? 1 : MAX_PER_WEBHOOK))
  const { rows } = await sql<{
    seq: string
    webhook_id: string
    event_id: string
    event_type: string
    subject: string
    data: Message['data']
    created_at: string
  }>`
    WITH ready AS (
      SELECT next.seq
      FROM unnest(${ids}::text[], ${maxima}::int[]) AS listener (id, maximum)
      CROSS JOIN LATERAL (
        SELECT due.seq, row_number() OVER () AS turn FROM (
          SELECT waiting.seq FROM webhook_deliveries AS waiting
          WHERE waiting.webhook_id = listener.id AND waiting.state = 'pending'
            AND waiting.next_attempt_at <= now() AND ${isFree('waiting')}
            AND NOT EXISTS (SELECT FROM webhook_deliveries AS earlier
              WHERE earlier.webhook_id = listener.id AND earlier.state = 'pending'
                AND earlier.subject = waiting.subject AND earlier.seq < waiting.seq)
          ORDER BY waiting.next_attempt_at, waiting.seq
          LIMIT greatest(listener.maximum - (SELECT count(*) FROM webhook_deliveries AS sent
            WHERE sent.webhook_id = listener.id AND sent.lease_until > now()), 0)
        ) AS due
      ) AS next
      ORDER BY next.turn, next.seq LIMIT ${limit}
    )
    UPDATE webhook_deliveries AS claimed
    SET lease_id = ${leaseId}, lease_server = ${serverId},
      lease_until = now() + make_interval(secs => ${sql.lit(LEASE_SECONDS)})
    FROM ready WHERE claimed.seq = ready.seq AND claimed.state = 'pending' AND ${isFree('claimed')}
    RETURNING claimed.seq, webhook_id, event_id, event_type, subject, data, created_at`.execute(tx)
  const byId = new Map(listeners.map((each) => [each.id, each]))
  return rows.map(({ seq, webhook_id, event_id, event_type, subject, data, created_at }) => ({
    seq,
    leaseId,
    subject,
    webhook: byId.get(webhook_id)!,
    message: { id: event_id, type: event_type, timestamp: created_at, data },
  }))
}

export const isFailing = ({ consecutive_failures }: Pick<Listener, 'consecutive_failures'>) =>
  consecutive_failures >= FAILING_AFTER

/** The lock makes servers count one after another what a receiver gets. One that another server looks at is left out. */
async function lockListeners(tx: Db, { withoutProjects, withoutFailing }: ClaimOptions): Promise<Listener[]> {
  const { rows } = await sql<Listener>`
    SELECT id, project_id, url, sealed_secret, sealed_old_secret, old_secret_until, consecutive_failures
    FROM webhooks
    WHERE deleted_at IS NULL AND status = 'enabled'
      AND project_id <> ALL (${withoutProjects}::text[])
      AND NOT (${withoutFailing} AND consecutive_failures >= ${sql.lit(FAILING_AFTER)})
      AND EXISTS (SELECT FROM webhook_deliveries AS waiting
        WHERE waiting.webhook_id = webhooks.id AND waiting.state = 'pending'
          AND waiting.next_attempt_at <= now() AND ${isFree('waiting')})
    ORDER BY random() LIMIT ${MAX_WEBHOOKS}
    FOR NO KEY UPDATE SKIP LOCKED`.execute(tx)
  return rows
}

/** For a server that starts or stops. */
export async function releaseLeases(db: Db, serverId: string): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({ lease_id: null, lease_server: null, lease_until: null })
    .where('lease_server', '=', serverId)
    .where('lease_until', 'is not', null)
    .execute()
}

/** The webhook as it is now, locked; undefined when it is gone. */
async function lockForResult(tx: Db, id: string) {
  return tx
    .selectFrom('webhooks')
    .select(['id', 'project_id', 'status', 'consecutive_failures', 'failing_since', 'last_success_at'])
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
}
export type LockedWebhook = Pick<
  WebhookRecord,
  'id' | 'project_id' | 'status' | 'consecutive_failures' | 'failing_since' | 'last_success_at'
>

const isOver = sql<boolean>`tried_from < now() - make_interval(hours => ${sql.lit(GIVE_UP_HOURS)})`

/** Stores how an attempt went. Undefined when another server has the delivery by now, or nobody wants it any more. */
export async function keepResult(
  tx: Db,
  { seq, leaseId, subject, webhook: { id } }: Claim,
  attempt: Attempt,
): Promise<LockedWebhook | undefined> {
  const webhook = await lockForResult(tx, id)
  if (!webhook) return undefined
  const hasFailed = attempt.error !== null
  const isLast = hasFailed ? isOver : sql<boolean>`true`
  const kept = await tx
    .updateTable('webhook_deliveries')
    .set({
      state: sql`CASE WHEN NOT (${isLast}) THEN 'pending' ELSE ${hasFailed ? 'failed' : 'delivered'} END`,
      finished_at: sql<string | null>`CASE WHEN ${isLast} THEN now() END`,
      attempts: sql<number>`attempts + 1`,
      ...(hasFailed && {
        failures: sql<number>`failures + 1`,
        next_attempt_at: sql<string>`now() + ${delayAfter(attempt)}`,
      }),
      lease_id: null,
      lease_server: null,
      lease_until: null,
    })
    .where('seq', '=', seq)
    .where('lease_id', '=', leaseId)
    .returning(['attempts', 'state', 'next_attempt_at'])
    .executeTakeFirst()
  if (!kept) return undefined
  await insertAttempt(tx, seq, kept.attempts, attempt)
  await moveFollowers(tx, { id, subject, seq }, kept.state === 'pending' ? kept.next_attempt_at : null)
  if (hasFailed) await keepFailure(tx, webhook, attempt.error)
  else await keepSuccess(tx, webhook)
  return webhook
}

/** Depends on how often it failed in a row, which the row knows. */
function delayAfter(attempt: Attempt) {
  const delays = retryDelaysMs(attempt).map((ms) => ms / 1000)
  return sql`make_interval(secs => (${delays}::float8[])[least(failures + 1, ${delays.length})])`
}

/** Later events of the subject come after it, so nobody needs to look at them earlier. Null: now. */
async function moveFollowers(
  tx: Db,
  { id, subject, seq }: { id: string; subject: string; seq: string },
  at: string | null,
): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ next_attempt_at: at ?? sql<string>`now()` })
    .where('webhook_id', '=', id)
    .where('subject', '=', subject)
    .where('state', '=', 'pending')
    .where('seq', '>', seq)
    .where('next_attempt_at', at === null ? '>' : '<', at ?? sql<string>`now()`)
    .execute()
}

async function keepSuccess(
  tx: Db,
  { id, consecutive_failures: failures, last_success_at: lastAt }: LockedWebhook,
): Promise<void> {
  const isNews = lastAt === null || Date.now() - Date.parse(lastAt) > SUCCESS_IS_NEWS_SECONDS * 1000
  if (failures === 0 && !isNews) return
  await tx
    .updateTable('webhooks')
    .set({ consecutive_failures: 0, failing_since: null, last_success_at: sql<string>`now()` })
    .where('id', '=', id)
    .execute()
}

async function keepFailure(tx: Db, { id }: LockedWebhook, error: string): Promise<void> {
  await tx
    .updateTable('webhooks')
    .set({
      consecutive_failures: sql<number>`consecutive_failures + 1`,
      failing_since: sql<string>`coalesce(failing_since, now())`,
      last_error: error,
      last_error_at: sql<string>`now()`,
    })
    .where('id', '=', id)
    .execute()
}

export async function disableWebhook(tx: Db, id: string, by: 'failures' | 'receiver'): Promise<void> {
  await tx
    .updateTable('webhooks')
    .set({ status: 'disabled', disabled_by: by, updated_at: sql<string>`now()` })
    .where('id', '=', id)
    .execute()
}
