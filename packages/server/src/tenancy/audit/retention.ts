import { retention } from '../../platform/jobs/housekeeping.ts'
import { deleteAuditRecordsBefore } from './store.ts'

const BATCH = 5_000

export const auditRetention = (days: number) =>
  retention({ name: 'audit log', days, batch: BATCH, deleteBefore: deleteAuditRecordsBefore })
