import type { Db } from './schema.ts'

type Table = 'browser_pools' | 'credentials' | 'extensions' | 'profiles' | 'projects'

/** Whether the row existed and was deleted: deleting it again succeeds. The project is null for all projects. */
export async function wasDeleted(
  db: Db,
  table: Table,
  { projectId, id }: { projectId: string | null; id: string },
): Promise<boolean> {
  let query = db
    // SAFETY: every one of these tables has the columns below, and `projects` is never asked with a project.
    .selectFrom(table as 'profiles')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is not', null)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  return (await query.executeTakeFirst()) !== undefined
}
