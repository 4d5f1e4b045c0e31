import type { Owner } from '../fixtures/cleanup.ts'

/** Runs the work with a new owner, and cleans up after the work ends. */
export async function owning<T>(work: (owner: Owner) => Promise<T>): Promise<T> {
  const cleanups: (() => void | Promise<void>)[] = []
  try {
    return await work({ after: (cleanup) => void cleanups.push(cleanup) })
  } finally {
    for (const cleanup of cleanups) await cleanup()
  }
}
