import type { Blobs } from '../../platform/blobs/blobs.ts'
import { daysAgo, type HousekeepingTask } from '../../platform/jobs/housekeeping.ts'
import { deleteFinishedBefore } from './store.ts'

const BATCH = 100

export function replayRetention({ blobs, days }: { blobs: Blobs; days: number }): HousekeepingTask {
  return {
    name: 'recordings',
    run: async ({ db, alone, signal }) => {
      const end = daysAgo(days)
      let count: number | undefined
      do {
        // Rows first: bytes without a row are removed later, but a row without bytes could not be played.
        const rows = await alone(async (tx) => {
          const deleted = await deleteFinishedBefore(tx, end, BATCH)
          await blobs.forget(tx, blobsOf(deleted))
          return deleted
        })
        for (const id of blobsOf(rows ?? [])) await blobs.remove(db, id)
        count = rows?.length
      } while (count === BATCH && !signal.aborted)
    },
  }
}

const blobsOf = (rows: readonly { blob_id: string | null }[]) => rows.flatMap(({ blob_id }) => blob_id ?? [])
