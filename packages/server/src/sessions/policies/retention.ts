import { retention } from '../../platform/jobs/housekeeping.ts'
import { deletePoliciesBefore } from './store.ts'

/** Policies may be large, so those of ended sessions go before the sessions themselves. */
const DAYS = 30
const BATCH = 100

export const policyRetention = retention({
  name: 'Chrome policies of ended sessions',
  days: DAYS,
  batch: BATCH,
  deleteBefore: deletePoliciesBefore,
})
