import type { HousekeepingTask } from '../jobs/housekeeping.ts'
import type { Blobs } from './blobs.ts'

/** Removes bytes without a row, which a killed server can leave. */
export const blobSweep = (blobs: Blobs): HousekeepingTask => ({
  name: 'blobs',
  run: async ({ db }) => void (await blobs.sweep(db)),
})
