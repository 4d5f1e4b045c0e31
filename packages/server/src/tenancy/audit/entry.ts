import type { AuditLogEntry } from '@berth/contracts/audit-logs'
import type { AuditRecord } from './types.ts'

export function toEntry(row: AuditRecord): AuditLogEntry {
  const { timestamp, auth_strategy, user_id, email, status, method, path, route } = row
  const { domain, duration_ms, client_ip, user_agent, scope } = row
  return {
    timestamp,
    auth_strategy,
    user_id,
    email,
    status,
    method,
    path,
    route,
    domain,
    duration_ms,
    client_ip,
    user_agent,
    scope,
  }
}

/** One line of an export. A record that was exported twice has the same `event_id` in both. */
export function toLine(row: AuditRecord): string {
  return `${JSON.stringify({ event_id: row.id, ...toEntry(row) })}\n`
}
