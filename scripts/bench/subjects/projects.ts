// Fills the database with projects.
import type { Client } from 'pg'

export const PROJECT_COUNT = 10_000

/** Ids have the server's format; names and times differ; the newest is last. */
export async function seedProjects(database: Client): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `INSERT INTO projects (id, name, created_at, updated_at)
     SELECT 'proj_' || lpad(number::text, 24, '0'), 'Project ' || number, time, time
     FROM generate_series(1, $1) AS number,
       LATERAL (SELECT now() - make_interval(mins => $1 - number) AS time)
     RETURNING id`,
    [PROJECT_COUNT],
  )
  // Without statistics, the planner's guess would change whenever autovacuum runs.
  await database.query('VACUUM ANALYZE projects')
  return rows.map((row) => row.id)
}
