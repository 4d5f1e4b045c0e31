import { retention, type HousekeepingTask } from '../../platform/jobs/housekeeping.ts'
import { deleteOldInbox, deleteSegmentsBefore, forgetEmptySessions } from './store.ts'

const BATCH = 500

export const telemetryRetention = (days: number): readonly HousekeepingTask[] => [
  { name: 'telemetry inbox', run: ({ alone }) => alone(deleteOldInbox) },
  retention({ name: 'telemetry events', days, batch: BATCH, deleteBefore: deleteSegmentsBefore }),
  { name: 'telemetry of ended sessions', run: ({ alone }) => alone(forgetEmptySessions) },
]
