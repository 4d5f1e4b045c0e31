import { retention } from '../../platform/jobs/housekeeping.ts'
import { deleteEventsBefore } from './events.ts'

const BATCH = 500

export const appLogRetention = (days: number) =>
  retention({ name: 'logs of apps', days, batch: BATCH, deleteBefore: deleteEventsBefore })
