import type { Owner } from '../fixtures/cleanup.ts'

/** For as long as the work takes; what it left to the owner ends with it. */
export async function owning<T>(work: (owner: Owner) => Promise<T>): Promise<T> {
  const cleanups: (() => void | Promise<void>)[] = []
  try {
    return await work({ after: (cleanup) => void cleanups.push(cleanup) })
  } finally {
    for (const cleanup of cleanups) await cleanup()
  }
}
