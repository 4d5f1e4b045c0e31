import { sql } from 'kysely'
import type { WebhookStatus } from '@berth/contracts/webhooks'
import type { WebhookEventType } from '@berth/contracts/webhook-event-types'
import { containing } from '../../platform/database/like.ts'
import type { Db } from '../../platform/database/schema.ts'
import { webhookColumns, type WebhookRecord } from './types.ts'

const live = (db: Db) => db.selectFrom('webhooks').select(webhookColumns).where('deleted_at', 'is', null)

export interface NewWebhook {
  readonly id: string
  readonly projectId: string
  readonly url: string
  readonly description: string | null
  readonly eventTypes: readonly WebhookEventType[]
  readonly sealedSecret: Buffer
}

export async function insertWebhook(tx: Db, webhook: NewWebhook): Promise<WebhookRecord> {
  return tx
    .insertInto('webhooks')
    .values({
      id: webhook.id,
      project_id: webhook.projectId,
      url: webhook.url,
      description: webhook.description,
      event_types: [...webhook.eventTypes],
      sealed_secret: webhook.sealedSecret,
    })
    .returning(webhookColumns)
    .executeTakeFirstOrThrow()
}

/** Locks the row until the transaction ends, deleted or not. Whoever also locks deliveries locks the webhook first. */
export async function lockWebhook(
  tx: Db,
  projectId: string | null,
  id: string,
): Promise<WebhookRecord | undefined> {
  let query = tx.selectFrom('webhooks').select(webhookColumns).where('id', '=', id)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  return query.forNoKeyUpdate().executeTakeFirst()
}

/** A null project searches all projects. */
export async function findWebhook(
  db: Db,
  projectId: string | null,
  id: string,
): Promise<WebhookRecord | undefined> {
  let query = live(db).where('id', '=', id)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  return query.executeTakeFirst()
}

export async function listWebhooks(
  db: Db,
  projectId: string | null,
  options: { query?: string; status?: WebhookStatus; limit: number; offset: number },
): Promise<WebhookRecord[]> {
  const { query: part, status, limit, offset } = options
  let query = live(db)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  if (status) query = query.where('status', '=', status)
  if (part) {
    query = query.where((where) =>
      where.or([
        where('url', 'ilike', containing(part)),
        where('description', 'ilike', containing(part)),
        where('id', '=', part),
      ]),
    )
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute()
}

export async function countWebhooks(db: Db, projectId: string): Promise<number> {
  const { count } = await db
    .selectFrom('webhooks')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

export interface WebhookChange {
  readonly url?: string
  readonly description?: string | null
  readonly eventTypes?: readonly WebhookEventType[]
  readonly status?: WebhookStatus
  /** The secret from before stays valid for so long. */
  readonly rotation?: {
    readonly sealed: Buffer
    readonly sealedOld: Buffer | null
    readonly overlapHours: number
  }
}

export async function updateWebhook(
  tx: Db,
  id: string,
  { url, description, eventTypes, status, rotation }: WebhookChange,
): Promise<WebhookRecord> {
  return tx
    .updateTable('webhooks')
    .set({
      version: sql<number>`version + 1`,
      updated_at: sql<string>`now()`,
      ...(url !== undefined && { url }),
      ...(description !== undefined && { description }),
      ...(eventTypes && { event_types: [...eventTypes] }),
      ...(status && {
        status,
        disabled_by: status === 'disabled' ? ('user' as const) : null,
        // Else its first failure would disable it again.
        ...(status === 'enabled' && { consecutive_failures: 0, failing_since: null }),
      }),
      ...(rotation && {
        sealed_secret: rotation.sealed,
        sealed_old_secret: rotation.sealedOld,
        old_secret_until:
          rotation.sealedOld && sql<string>`now() + make_interval(hours => ${rotation.overlapHours})`,
      }),
    })
    .where('id', '=', id)
    .returning(webhookColumns)
    .executeTakeFirstOrThrow()
}

/** Removes the secrets at once. Housekeeping removes its deliveries. */
export async function markWebhookDeleted(tx: Db, id: string): Promise<void> {
  await tx
    .updateTable('webhooks')
    .set({
      deleted_at: sql<string>`now()`,
      sealed_secret: null,
      sealed_old_secret: null,
      old_secret_until: null,
    })
    .where('id', '=', id)
    .execute()
}
