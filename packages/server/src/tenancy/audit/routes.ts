import { exportAuditLogs, listAuditLogs } from '@berth/contracts/audit-logs'
import { route, type Route } from '../../http/call.ts'
import type { AuditService } from './service.ts'

export function auditRoutes(audit: AuditService): Route[] {
  return [
    route(listAuditLogs, ({ db, principal, query, signal }) => audit.list(db, principal, query, { signal })),
    route(exportAuditLogs, ({ db, principal, query, signal }) =>
      audit.exportChunk(db, principal, query, { signal }),
    ),
  ]
}
