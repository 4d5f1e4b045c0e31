import { CompiledQuery, sql, type SelectQueryBuilder } from 'kysely'
import { containing } from '../../platform/database/like.ts'
import type { Db, Tables } from '../../platform/database/schema.ts'
import type { AuditFilter, AuditPosition, AuditRecord, NewAuditRecord } from './types.ts'

type Query = SelectQueryBuilder<Tables, 'audit_logs', AuditRecord>

const columns = {
  timestamp: 'timestamptz',
  project_id: 'text',
  key_id: 'text',
  request_id: 'text',
  service: 'text',
  auth_strategy: 'text',
  user_id: 'text',
  email: 'text',
  status: 'integer',
  method: 'text',
  path: 'text',
  route: 'text',
  domain: 'text',
  duration_ms: 'real',
  client_ip: 'text',
  user_agent: 'text',
  scope: 'text',
} satisfies Record<keyof NewAuditRecord, string>

// One parameter for any number of rows, and nothing to compile: with a placeholder per value,
// building the statement took longer than everything else in the recorded requests.
const names = Object.keys(columns).join(', ')
const types = Object.entries(columns).map((column) => column.join(' '))
const INSERT = `INSERT INTO audit_logs (${names})
  SELECT ${names} FROM json_to_recordset($1::json) AS record (${types.join(', ')})`

export async function insertAuditRecords(db: Db, records: readonly NewAuditRecord[]): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(INSERT, [JSON.stringify(records)]))
}

export async function listAuditRecords(
  db: Db,
  filter: AuditFilter,
  page: { limit: number; after: AuditPosition | undefined; signal: AbortSignal },
): Promise<AuditRecord[]> {
  let query: Query = db
    .selectFrom('audit_logs')
    .selectAll()
    .where(sql<boolean>`timestamp >= ${filter.start} AND timestamp < ${filter.end}`)
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

/** Must run in a transaction, because the permission that it grants itself ends with the transaction. */
export async function deleteAuditRecordsBefore(tx: Db, time: Date, limit: number): Promise<number> {
  await sql`SELECT set_config('berth.audit_retention', 'on', true)`.execute(tx)
  const old = sql`SELECT timestamp, id FROM audit_logs WHERE timestamp < ${time} LIMIT ${limit}`
  const { numAffectedRows } = await sql`DELETE FROM audit_logs WHERE (timestamp, id) IN (${old})`.execute(tx)
  return Number(numAffectedRows)
}
