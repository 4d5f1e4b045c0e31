import { retention, type HousekeepingTask } from '../../platform/jobs/housekeeping.ts'
import { deleteFinishedBefore, deleteOfDeletedWebhooks, giveUpOld } from './delivery-log-store.ts'

const BATCH = 2_000

export function webhookRetention(days: number): readonly HousekeepingTask[] {
  return [
    retention({
      name: 'webhook events that are too old to send',
      days: 0,
      batch: BATCH,
      deleteBefore: (tx, _end, limit) => giveUpOld(tx, limit),
    }),
    retention({
      name: 'deliveries of deleted webhooks',
      days: 0,
      batch: BATCH,
      deleteBefore: (tx, _end, limit) => deleteOfDeletedWebhooks(tx, limit),
    }),
    retention({ name: 'webhook deliveries', days, batch: BATCH, deleteBefore: deleteFinishedBefore }),
  ]
}
