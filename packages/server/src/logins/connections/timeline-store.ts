// The history of a connection: its flows and health checks, as one list.
import { sql } from 'kysely'
import type { ConnectionStatus, TimelineType } from '@berth/contracts/auth-connections'
import { newId } from '@berth/kit/ids'
import type { Db } from '../../platform/database/schema.ts'
import type { CheckRecord, FlowRecord } from './types.ts'

export type TimelineRecord =
  | { readonly kind: 'flow'; readonly flow: FlowRecord }
  | { readonly kind: 'check'; readonly check: CheckRecord }

export async function listTimeline(
  db: Db,
  connectionId: string,
  { type, limit, offset }: { type: TimelineType | undefined; limit: number; offset: number },
): Promise<TimelineRecord[]> {
  const flowType = type === 'login' ? 'LOGIN' : type === 'reauth' ? 'REAUTH' : null
  const { rows } = await sql<{ kind: 'flow' | 'check'; id: string }>`
    SELECT * FROM (
      SELECT 'flow' AS kind, id, created_at FROM auth_flows
      WHERE connection_id = ${connectionId} AND ${type !== 'health_check'}
        AND (${flowType}::text IS NULL OR type = ${flowType})
      UNION ALL
      SELECT 'check', id, created_at FROM auth_checks
      WHERE connection_id = ${connectionId} AND ${type === undefined || type === 'health_check'}
    ) AS entries ORDER BY created_at DESC, id DESC LIMIT ${limit} OFFSET ${offset}`.execute(db)
  const ids = (kind: 'flow' | 'check') => rows.flatMap((row) => (row.kind === kind ? [row.id] : []))
  const flows = await byId<FlowRecord>(ids('flow'), (some) =>
    db.selectFrom('auth_flows').selectAll().where('id', 'in', some).execute(),
  )
  const checks = await byId<CheckRecord>(ids('check'), (some) =>
    db.selectFrom('auth_checks').selectAll().where('id', 'in', some).execute(),
  )
  return rows.flatMap(({ kind, id }): TimelineRecord[] => {
    const flow = kind === 'flow' ? flows.get(id) : undefined
    const check = kind === 'check' ? checks.get(id) : undefined
    if (flow) return [{ kind: 'flow', flow }]
    return check ? [{ kind: 'check', check }] : []
  })
}

async function byId<T extends { readonly id: string }>(
  ids: readonly string[],
  find: (ids: readonly string[]) => Promise<T[]>,
): Promise<ReadonlyMap<string, T>> {
  const rows = ids.length === 0 ? [] : await find(ids)
  return new Map(rows.map((row) => [row.id, row]))
}

export async function insertCheck(
  tx: Db,
  check: {
    readonly connectionId: string
    readonly startedAt: Date
    readonly result: CheckRecord['result']
    readonly reason: string
    readonly previousStatus: ConnectionStatus
    readonly browserId: string | null
    readonly replayId: string | null
    readonly telemetryCaptured: boolean
  },
): Promise<string> {
  const id = newId()
  await tx
    .insertInto('auth_checks')
    .values({
      id,
      connection_id: check.connectionId,
      created_at: check.startedAt,
      result: check.result,
      reason: check.reason,
      previous_status: check.previousStatus,
      browser_id: check.browserId,
      replay_id: check.replayId,
      telemetry_captured: check.telemetryCaptured,
    })
    .execute()
  return id
}

export async function findEntry(
  db: Db,
  connectionId: string,
  id: string,
): Promise<TimelineRecord | undefined> {
  const flow = await db
    .selectFrom('auth_flows')
    .selectAll()
    .where('id', '=', id)
    .where('connection_id', '=', connectionId)
    .executeTakeFirst()
  if (flow) return { kind: 'flow', flow }
  const check = await db
    .selectFrom('auth_checks')
    .selectAll()
    .where('id', '=', id)
    .where('connection_id', '=', connectionId)
    .executeTakeFirst()
  return check && { kind: 'check', check }
}

/** For the hourly housekeeping: deletes flows, checks, and deleted connections that have none left. */
export async function deleteTimelineBefore(tx: Db, end: Date, limit: number): Promise<number> {
  const before = end.toISOString()
  const { rows: checks } = await sql<{ id: string }>`
    DELETE FROM auth_checks WHERE id IN (
      SELECT id FROM auth_checks WHERE created_at < ${before} LIMIT ${limit}) RETURNING id`.execute(tx)
  // A connection's latest flow is its state, so it stays however old it is.
  const { rows: flows } = await sql<{ id: string }>`
    DELETE FROM auth_flows WHERE id IN (
      SELECT auth_flows.id FROM auth_flows
      JOIN auth_connections ON auth_connections.id = auth_flows.connection_id
      WHERE finished_at < ${before}
        AND (auth_connections.flow_id IS DISTINCT FROM auth_flows.id OR auth_connections.deleted_at IS NOT NULL)
      LIMIT ${limit}) RETURNING id`.execute(tx)
  await sql`
    DELETE FROM auth_connections WHERE id IN (
      SELECT id FROM auth_connections WHERE deleted_at < ${before}
        AND NOT EXISTS (SELECT FROM auth_flows WHERE connection_id = auth_connections.id)
        AND NOT EXISTS (SELECT FROM auth_checks WHERE connection_id = auth_connections.id)
      LIMIT ${limit})`.execute(tx)
  return Math.max(checks.length, flows.length)
}
