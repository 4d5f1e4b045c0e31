import { retention } from '../../platform/jobs/housekeeping.ts'
import { deleteEndedBefore } from './store.ts'

const BATCH = 500

export const invocationRetention = (days: number) =>
  retention({ name: 'invocations', days, batch: BATCH, deleteBefore: deleteEndedBefore })
