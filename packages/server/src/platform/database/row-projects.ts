import type { Db } from './schema.ts'

type Table = 'auth_connections' | 'browser_pools' | 'browsers' | 'invocations'

/** Finds the projects of rows, without those that do not exist. Deleted rows are found, too. */
export function rowProjects(
  table: Table,
): (db: Db, ids: readonly string[]) => Promise<ReadonlyMap<string, string>> {
  return async (db, ids) => {
    const rows = await db
      // SAFETY: every one of these tables has the columns below.
      .selectFrom(table as 'browsers')
      .select(['id', 'project_id'])
      .where('id', '=', (where) => where.fn.any(where.val(ids)))
      .execute()
    return new Map(rows.map(({ id, project_id: projectId }) => [id, projectId]))
  }
}
