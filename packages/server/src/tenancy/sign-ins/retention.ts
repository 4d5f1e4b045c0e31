import { retention } from '../../platform/jobs/housekeeping.ts'
import { deleteSignInsBefore } from './store.ts'

const BATCH = 1_000

/** They carry their own end, so no further days. */
export const signInRetention = retention({
  name: 'sign-ins',
  days: 0,
  batch: BATCH,
  deleteBefore: deleteSignInsBefore,
})
