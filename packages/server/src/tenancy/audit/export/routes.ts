import * as contract from '@berth/contracts/audit-exports'
import { route, type Route } from '../../../http/call.ts'
import type { AuditExportService } from './service.ts'

export function auditExportRoutes(exports: AuditExportService): Route[] {
  return [
    route(contract.createAuditExport, ({ db, body }) => exports.create(db, body)),
    route(contract.listAuditExports, ({ db, query }) => exports.list(db, query)),
    route(contract.getAuditExport, ({ db, params }) => exports.get(db, params.id)),
    route(contract.updateAuditExport, (call) => exports.update(call.params.id, call.body, call)),
    route(contract.deleteAuditExport, ({ db, params }) => exports.delete(db, params.id)),
    route(contract.testAuditExport, (call) => exports.test(call.params.id, call)),
  ]
}
