// Enforces the limits exactly: sessions and pool places are counted under the lock that every session create also
// takes.
import { sql } from 'kysely'
import { lockOccupancy, pooledPlaces } from '../browsers/store.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'

export interface Ceilings {
  readonly maxSessions: number
  readonly maxPooledSessions: number
}

interface PooledOccupancy {
  readonly ofOrganization: number
  readonly ofProject: number
  readonly projectCap: number | null
  /** Places of the pool that is being changed. */
  readonly own: number
}

export interface Wanted {
  readonly projectId: string
  /** Null for a pool that is being created. */
  readonly poolId: string | null
  readonly size: number
}

/** Throws when the pool's new size would exceed a limit. */
export async function takePlaces(
  tx: Db,
  { projectId, poolId, size }: Wanted,
  { maxSessions, maxPooledSessions }: Ceilings,
): Promise<void> {
  const sessions = await lockOccupancy(tx, projectId)
  const { rows } = await sql<PooledOccupancy>`
    SELECT
      (SELECT ${pooledPlaces} FROM browser_pools AS pool WHERE deleted_at IS NULL) AS "ofOrganization",
      (SELECT ${pooledPlaces} FROM browser_pools AS pool
        WHERE deleted_at IS NULL AND project_id = ${projectId}) AS "ofProject",
      (SELECT ${pooledPlaces} FROM browser_pools AS pool
        WHERE deleted_at IS NULL AND id = ${poolId}) AS "own",
      (SELECT max_pooled_sessions FROM projects WHERE id = ${projectId}) AS "projectCap"`.execute(tx)
  const pooled = rows[0]!
  const more = size - pooled.own
  if (more <= 0) return
  const caps = [
    { taken: pooled.ofOrganization, cap: maxPooledSessions, of: 'the organisation', what: 'pooled' },
    { taken: pooled.ofProject, cap: pooled.projectCap, of: 'the project', what: 'pooled' },
    { taken: sessions.ofOrganization, cap: maxSessions, of: 'the organisation', what: 'concurrent' },
    { taken: sessions.ofProject, cap: sessions.projectCap, of: 'the project', what: 'concurrent' },
  ]
  for (const { taken, cap, of, what } of caps) {
    if (cap === null || taken + more <= cap) continue
    throw new AppError(
      'too_many_sessions',
      `Cannot reserve ${size} browsers for the pool: ${of} may have ${cap} ${what} sessions, and ${taken - pooled.own} ` +
        'are taken; make the pool smaller or raise the limit',
      { headers: { 'retry-after': '1' } },
    )
  }
}
