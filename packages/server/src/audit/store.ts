import { sql, type SelectQueryBuilder } from 'kysely'
import { containing } from '../db/like.ts'
import type { Db, Tables } from '../db/schema.ts'
import type { AuditFilter, AuditPosition, AuditRecord } from './types.ts'

type Query = SelectQueryBuilder<Tables, 'audit_logs', AuditRecord>

export async function listAuditRecords(
  db: Db,
  filter: AuditFilter,
  page: { limit: number; after: AuditPosition | undefined; signal: AbortSignal },
): Promise<AuditRecord[]> {
  let query: Query = db
    .selectFrom('audit_logs')
    .selectAll()
    .where('timestamp', '>=', filter.start)
    .where('timestamp', '<', filter.end)
  if (filter.projectId !== null) query = query.where('project_id', '=', filter.projectId)
  if (filter.authStrategy) query = query.where('auth_strategy', '=', filter.authStrategy)
  if (filter.service) query = query.where('service', '=', filter.service)
  if (filter.method) query = query.where('method', '=', filter.method.toUpperCase())
  if (filter.excludeMethods.length > 0) {
    query = query.where(
      'method',
      'not in',
      filter.excludeMethods.map((method) => method.toUpperCase()),
    )
  }
  query = search(query, filter)
  if (page.after) {
    query = query.where(sql<boolean>`(timestamp, id) < (${page.after.timestamp}, ${page.after.id}::bigint)`)
  }
  return query
    .orderBy('timestamp', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute({ signal: page.signal })
}

function search(query: Query, filter: AuditFilter): Query {
  const text = filter.search
  const userIds = filter.searchUserIds
  if (!text && userIds.length === 0) return query
  return query.where((where) =>
    where.or([
      ...(text
        ? [
            ...(['path', 'user_id', 'email', 'client_ip'] as const).map((column) =>
              where(column, 'ilike', containing(text)),
            ),
            where(sql<string>`status::text`, '=', text),
          ]
        : []),
      ...(userIds.length > 0 ? [where('user_id', 'in', [...userIds])] : []),
    ]),
  )
}

/** Must run in a transaction: the permission it gives itself ends with that. */
export async function deleteAuditRecordsBefore(tx: Db, time: Date): Promise<void> {
  await sql`SELECT set_config('berth.audit_retention', 'on', true)`.execute(tx)
  await tx.deleteFrom('audit_logs').where('timestamp', '<', time).execute()
}
