import { retention } from '../../platform/jobs/housekeeping.ts'
import { deleteHandoversBefore } from './store.ts'

const DAYS = 7
const BATCH = 1_000

/** An agent that was away for a few days still learns what the person said. */
export const handoverRetention = retention({
  name: 'handovers',
  days: DAYS,
  batch: BATCH,
  deleteBefore: deleteHandoversBefore,
})
