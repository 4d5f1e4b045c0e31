import type { Client } from 'pg'

export const PROJECT_COUNT = 10_000

/** Ids of the shape the server makes, names and times of their own, newest last. */
export async function seedProjects(database: Client): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `INSERT INTO projects (id, name, created_at, updated_at)
     SELECT 'proj_' || lpad(number::text, 24, '0'), 'Project ' || number, time, time
     FROM generate_series(1, $1) AS number,
       LATERAL (SELECT now() - make_interval(mins => $1 - number) AS time)
     RETURNING id`,
    [PROJECT_COUNT],
  )
  // Without statistics the planner would guess, and would guess differently as autovacuum comes by.
  await database.query('VACUUM ANALYZE projects')
  return rows.map((row) => row.id)
}
