import { sql } from 'kysely'
import type { ProjectStatus } from '@berth/contracts/projects'
import { newId } from '@berth/kit/ids'
import { containing } from '../../platform/database/like.ts'
import { lookUp } from '../../platform/database/look-up.ts'
import { prepared } from '../../platform/database/prepared.ts'
import type { Db } from '../../platform/database/schema.ts'
import {
  projectColumns,
  summaryColumns,
  type LimitName,
  type ProjectRecord,
  type ProjectSummary,
} from './types.ts'

const ID = /^proj_[a-z0-9]{24}$/

/** Serialises the changes that depend on all projects: deleting, archiving, choosing the default. */
export async function lockProjects(tx: Db): Promise<void> {
  await tx.selectFrom('organization').select('id').forNoKeyUpdate().execute()
}

export async function insertProject(tx: Db, name: string, isDefault = false): Promise<ProjectRecord> {
  return tx
    .insertInto('projects')
    .values({ id: newId('proj_'), name, is_default: isDefault })
    .returning(projectColumns)
    .executeTakeFirstOrThrow()
}

export interface FindOptions {
  /** Locks the row until the transaction ends. */
  readonly isLocked?: boolean
}

/** An id wins over a name that looks like an id. */
export async function findProject(
  db: Db,
  idOrName: string,
  options: FindOptions = {},
): Promise<ProjectRecord | undefined> {
  const byId = ID.test(idOrName) ? await findProjectBy(db, 'id', idOrName, options) : undefined
  return byId ?? findProjectBy(db, 'name', idOrName, options)
}

export async function findProjectBy(
  db: Db,
  column: 'id' | 'name',
  value: string,
  { isLocked = false }: FindOptions = {},
): Promise<ProjectRecord | undefined> {
  if (!isLocked) return finders[column].plain(db, value)
  const [row] = await finders[column].locked(db, value)
  return row
}

const live = (db: Db) => db.selectFrom('projects').select(projectColumns).where('deleted_at', 'is', null)

const findersBy = (column: 'id' | 'name') => {
  const findMany = prepared((db, values: readonly string[]) =>
    live(db).where(column, '=', (where) => where.fn.any(where.val(values))),
  )
  return {
    plain: lookUp<ProjectRecord>(
      async (db, values) => new Map((await findMany(db, values)).map((row) => [row[column], row])),
    ),
    locked: prepared((db, value: string) => live(db).where(column, '=', value).forNoKeyUpdate()),
  }
}
const finders = { id: findersBy('id'), name: findersBy('name') }

export async function listProjects(
  db: Db,
  options: { onlyId: string | null; query?: string; name?: string; limit: number; offset: number },
): Promise<ProjectSummary[]> {
  let query = db.selectFrom('projects').select(summaryColumns).where('deleted_at', 'is', null)
  if (options.onlyId !== null) query = query.where('id', '=', options.onlyId)
  if (options.query) query = query.where('name', 'ilike', containing(options.query))
  if (options.name !== undefined) query = query.where('name', '=', options.name)
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(options.limit)
    .offset(options.offset)
    .execute()
}

export async function updateProject(
  tx: Db,
  id: string,
  { name, status }: { name: string; status: ProjectStatus },
): Promise<ProjectRecord> {
  return tx
    .updateTable('projects')
    .set({ name, status, updated_at: sql`now()` })
    .where('id', '=', id)
    .returning(projectColumns)
    .executeTakeFirstOrThrow()
}

/** One statement, because this is the most frequent change. Renaming to the current name changes nothing. */
export async function renameProject(
  tx: Db,
  idOrName: string,
  { name, onlyId }: { name: string; onlyId: string | null },
): Promise<ProjectRecord | undefined> {
  const [row] = await rename(tx, idOrName, name, onlyId)
  return row
}

const rename = prepared((tx, idOrName: string, name: string, onlyId: string | null) => {
  const idBy = (column: 'id' | 'name') =>
    tx.selectFrom('projects').select('id').where(column, '=', idOrName).where('deleted_at', 'is', null)
  return tx
    .updateTable('projects')
    .set({ name, updated_at: sql`CASE WHEN name = ${name} THEN updated_at ELSE now() END` })
    .where('id', '=', sql<string>`coalesce((${idBy('id')}), (${idBy('name')}))`)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`id = coalesce(${onlyId}, id)`)
    .returning(projectColumns)
})

export async function updateProjectLimits(
  tx: Db,
  id: string,
  caps: Partial<Record<LimitName, number | null>>,
): Promise<ProjectRecord> {
  return tx
    .updateTable('projects')
    .set({ ...caps, updated_at: sql`now()` })
    .where('id', '=', id)
    .returning(projectColumns)
    .executeTakeFirstOrThrow()
}

export async function countActiveProjects(tx: Db): Promise<number> {
  const { count } = await tx
    .selectFrom('projects')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('status', '=', 'active')
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

export async function markDeleted(tx: Db, id: string): Promise<void> {
  await tx
    .updateTable('projects')
    .set({ deleted_at: sql`now()`, is_default: false })
    .where('id', '=', id)
    .execute()
}

/** The project of everything that names no project. It always exists. */
export async function findDefaultProject(db: Db): Promise<{ id: string }> {
  const [project] = await findDefault(db)
  if (!project) throw new Error('There is no default project')
  return project
}

const findDefault = prepared((db) => db.selectFrom('projects').select('id').where('is_default', '=', true))

/** The oldest active project becomes the default one. */
export async function chooseDefaultProject(tx: Db): Promise<void> {
  await tx.updateTable('projects').set({ is_default: false }).where('is_default', '=', true).execute()
  await tx
    .updateTable('projects')
    .set({ is_default: true })
    .where('id', '=', (where) =>
      where
        .selectFrom('projects')
        .select('id')
        .where('status', '=', 'active')
        .where('deleted_at', 'is', null)
        .orderBy('created_at')
        .orderBy('id')
        .limit(1),
    )
    .execute()
}
