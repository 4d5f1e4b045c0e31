import { sql } from 'kysely'
import type { Overview } from '@berth/contracts/overview'
import type { Db } from '../../platform/database/schema.ts'
import { pooledPlaces } from '../browsers/store.ts'
import { isLiveRow } from '../browsers/state.ts'

export type SessionUse = 'starting' | 'in_use' | 'standby' | 'idle_in_pools'

export interface SessionCount {
  readonly use: SessionUse
  readonly headless: boolean
  readonly count: number
}

const inProject = (projectId: string | null) =>
  projectId === null ? sql<boolean>`true` : sql<boolean>`project_id = ${projectId}`

export async function countSessions(db: Db, projectId: string | null): Promise<SessionCount[]> {
  const use = sql<SessionUse>`CASE
    WHEN state = 'starting' THEN 'starting'
    WHEN pool_id IS NOT NULL AND leased_at IS NULL THEN 'idle_in_pools'
    WHEN state = 'standby' THEN 'standby'
    ELSE 'in_use' END`
  return db
    .selectFrom('browsers')
    .select([use.as('use'), 'headless', sql<number>`count(*)::int`.as('count')])
    .where(isLiveRow())
    .where(inProject(projectId))
    .groupBy([use, 'headless'])
    .execute()
}

export interface PooledPlaces {
  readonly used: number
  /** Null without a project, or when it has no limit of its own. */
  readonly projectCap: number | null
}

export async function readPooledPlaces(db: Db, projectId: string | null): Promise<PooledPlaces> {
  const { rows } = await sql<PooledPlaces>`
    SELECT
      (SELECT ${pooledPlaces} FROM browser_pools AS pool WHERE deleted_at IS NULL AND ${inProject(projectId)}) AS "used",
      (SELECT max_pooled_sessions FROM projects WHERE id = ${projectId}) AS "projectCap"`.execute(db)
  return rows[0]!
}

export interface DayCount {
  /** In UTC, such as 2026-01-31. */
  readonly date: string
  readonly sessions: number
  readonly uptimeMs: number
}

/** Of sessions created at `since` or later, and before `until`. Only days with sessions. */
export async function countByDay(
  db: Db,
  projectId: string | null,
  { since, until }: { since: string; until: string },
): Promise<DayCount[]> {
  const { rows } = await sql<DayCount>`
    SELECT to_char(day, 'YYYY-MM-DD') AS "date", sum(sessions)::int AS "sessions", sum(uptime)::float8 AS "uptimeMs"
    FROM projects, LATERAL (
      SELECT date_trunc('day', created_at AT TIME ZONE 'UTC') AS day, count(*) AS sessions, sum(uptime_ms) AS uptime
      FROM browsers WHERE project_id = projects.id AND created_at >= ${since}::timestamptz AND created_at < ${until}::timestamptz
      GROUP BY 1
    ) AS of_project
    WHERE ${projectId === null ? sql`true` : sql`projects.id = ${projectId}`}
    GROUP BY day`.execute(db)
  return rows
}

type Failure = Overview['failures'][number]

export interface FailedSession {
  readonly id: string
  readonly name: string | null
  readonly pool_id: string | null
  readonly end_reason: Failure['end_reason']
  readonly created_at: string
  readonly deleted_at: string
}

/** The newest first. Goes from project to project, as the index does. */
export async function listFailures(
  db: Db,
  projectId: string | null,
  limit: number,
): Promise<FailedSession[]> {
  return db
    .selectFrom('projects')
    .innerJoinLateral(
      (from) =>
        from
          .selectFrom('browsers')
          .select(['id', 'name', 'pool_id', 'end_reason', 'created_at', 'deleted_at'])
          .whereRef('browsers.project_id', '=', 'projects.id')
          // Literals, so that the index applies.
          .where(sql<boolean>`end_reason IN ('crashed', 'out_of_memory', 'start_failed', 'lost')`)
          .orderBy('deleted_at', 'desc')
          .orderBy('id', 'desc')
          .limit(limit)
          .as('failed'),
      (join) => join.onTrue(),
    )
    .select([
      'failed.id',
      'failed.name',
      'failed.pool_id',
      'failed.end_reason',
      'failed.created_at',
      'failed.deleted_at',
    ])
    .$narrowType<FailedSession>()
    .$if(projectId !== null, (query) => query.where('projects.id', '=', projectId!))
    .orderBy('failed.deleted_at', 'desc')
    .orderBy('failed.id', 'desc')
    .limit(limit)
    .execute()
}
