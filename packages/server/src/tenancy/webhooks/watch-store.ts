import { sql } from 'kysely'
import type { WebhookEventType } from '@berth/contracts/webhook-event-types'
import type { Quota } from '@berth/contracts/webhook-events'
import type { Db } from '../../platform/database/schema.ts'

const LOOK_EVERY_SECONDS = 50
const EXPIRY_DAYS = 7
const MAX_KEYS = 1_000
const MAX_PROJECTS = 10_000

/** True for the first server that asks in a while. Without a webhook, there is nothing to look for. */
export async function takeTurn(db: Db): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_watch')
    .set({ looked_at: sql<string>`now()` })
    .where(sql<boolean>`EXISTS (SELECT FROM webhooks WHERE status = 'enabled' AND deleted_at IS NULL)`)
    .where(sql<boolean>`looked_at < now() - make_interval(secs => ${sql.lit(LOOK_EVERY_SECONDS)})`)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

const asks = (project: string, type: WebhookEventType) => sql<boolean>`EXISTS (
  SELECT FROM webhooks WHERE webhooks.project_id = ${sql.ref(project)} AND status = 'enabled'
    AND deleted_at IS NULL AND (event_types = '{}' OR ${type} = ANY (event_types)))`

/** Projects with an enabled webhook that wants such events. */
export async function listProjectsThatAsk(db: Db, type: WebhookEventType): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM projects WHERE deleted_at IS NULL AND ${asks('projects.id', type)}
    ORDER BY id LIMIT ${MAX_PROJECTS}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Each key once. A key without a project belongs to nobody who has webhooks. */
export async function tellExpiringKeys(tx: Db): Promise<void> {
  await sql`
    WITH told AS (
      UPDATE api_keys SET expiry_told_at = now() WHERE id IN (
        SELECT id FROM api_keys WHERE deleted_at IS NULL AND NOT is_of_deployment AND expiry_told_at IS NULL
          AND expires_at > now() AND expires_at < now() + make_interval(days => ${sql.lit(EXPIRY_DAYS)})
          AND ${asks('api_keys.project_id', 'api_key.expiring')}
        LIMIT ${MAX_KEYS})
      RETURNING id, project_id, name, masked_key, expires_at
    )
    SELECT add_webhook_event(project_id, 'api_key.expiring', id, jsonb_build_object('key_id', id,
      'project_id', project_id, 'name', name, 'masked_key', masked_key, 'expires_at', webhook_time(expires_at)))
    FROM told`.execute(tx)
}

interface NearQuota {
  readonly projectId: string
  readonly quota: Quota
  readonly used: number
  readonly limit: number
}

/** Only if it was not told yet. */
export async function tellQuotaNear(tx: Db, { projectId, quota, used, limit }: NearQuota): Promise<void> {
  await sql`
    WITH told AS (
      INSERT INTO webhook_quotas_near (project_id, quota) VALUES (${projectId}, ${quota})
      ON CONFLICT DO NOTHING RETURNING project_id, quota
    )
    SELECT add_webhook_event(project_id, 'quota.near', project_id, jsonb_build_object('project_id', project_id,
      'quota', quota, 'used', ${used}::bigint, 'limit', ${limit}::bigint))
    FROM told`.execute(tx)
}

export async function forgetQuotaNear(
  db: Db,
  { projectId, quota }: Pick<NearQuota, 'projectId' | 'quota'>,
): Promise<void> {
  await db
    .deleteFrom('webhook_quotas_near')
    .where('project_id', '=', projectId)
    .where('quota', '=', quota)
    .execute()
}
