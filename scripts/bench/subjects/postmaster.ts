import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The main process of the embedded PostgreSQL in a data directory. */
export function postmasterOf(dataDir: string): number {
  const file = join(dataDir, 'postgres', 'cluster', 'postmaster.pid')
  return Number(readFileSync(file, 'utf8').split('\n')[0])
}
