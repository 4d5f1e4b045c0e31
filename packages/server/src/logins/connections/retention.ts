import { retention } from '../../platform/jobs/housekeeping.ts'
import { deleteTimelineBefore } from './timeline-store.ts'

const BATCH = 500

export const loginRetention = (days: number) =>
  retention({ name: 'login flows and health checks', days, batch: BATCH, deleteBefore: deleteTimelineBefore })
