import { sql } from 'kysely'
import { containing } from '../../platform/database/like.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { ExtensionRecord, NewExtension } from './types.ts'

const ID = /^[a-z][a-z0-9]{23}$/

const columns = [
  'id',
  'project_id',
  'name',
  'sha256',
  'size_bytes',
  'archive_bytes',
  'manifest_name',
  'manifest_version',
  'blob_id',
  'sealed_key',
  'created_at',
  'last_used_at',
  'deleted_at',
] as const

export async function insertExtension(tx: Db, extension: NewExtension): Promise<ExtensionRecord> {
  return tx
    .insertInto('extensions')
    .values({
      id: extension.id,
      project_id: extension.projectId,
      name: extension.name,
      sha256: extension.sha256,
      size_bytes: String(extension.sizeBytes),
      archive_bytes: String(extension.archiveBytes),
      manifest_name: extension.manifestName,
      manifest_version: extension.manifestVersion,
      blob_id: extension.blobId,
      sealed_key: extension.sealedKey,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

const live = (db: Db) => db.selectFrom('extensions').select(columns).where('deleted_at', 'is', null)

/** An id wins over a name that looks like one. A null project searches all projects. */
export async function findExtension(
  db: Db,
  projectId: string | null,
  idOrName: string,
): Promise<ExtensionRecord | undefined> {
  return (
    (await findExtensionBy(db, projectId, { id: idOrName })) ??
    (await findExtensionBy(db, projectId, { name: idOrName }))
  )
}

export async function findExtensionBy(
  db: Db,
  projectId: string | null,
  { id, name }: { id?: string; name?: string },
): Promise<ExtensionRecord | undefined> {
  if (id !== undefined && !ID.test(id)) return undefined
  let query = id === undefined ? live(db).where('name', '=', name!) : live(db).where('id', '=', id)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').executeTakeFirst()
}

export async function listExtensions(
  db: Db,
  options: { projectId: string | null; query?: string; name?: string; limit: number; offset: number },
): Promise<ExtensionRecord[]> {
  let query = live(db)
  if (options.projectId !== null) query = query.where('project_id', '=', options.projectId)
  if (options.query) {
    const part = containing(options.query)
    query = query.where((where) => where.or([where('name', 'ilike', part), where('id', 'ilike', part)]))
  }
  if (options.name !== undefined) query = query.where('name', '=', options.name)
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(options.limit)
    .offset(options.offset)
    .execute()
}

/** Undefined when it was already deleted. */
export async function markDeleted(tx: Db, { id, blob_id }: ExtensionRecord): Promise<string | undefined> {
  const { numUpdatedRows } = await tx
    .updateTable('extensions')
    .set({ deleted_at: sql`now()`, blob_id: null })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n ? (blob_id ?? undefined) : undefined
}

/** Returns how many still exist. Locks the rows in a fixed order, to avoid a deadlock. */
export async function markUsed(tx: Db, ids: readonly string[]): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    UPDATE extensions SET last_used_at = now()
    FROM (SELECT id FROM extensions WHERE id = ANY(${[...ids]}) AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE) AS used
    WHERE extensions.id = used.id RETURNING extensions.id`.execute(tx)
  return rows.length
}

export const extensionBytes = sql`
  SELECT sum(archive_bytes) FROM extensions
  WHERE extensions.project_id = projects.id AND extensions.deleted_at IS NULL`

export async function countExtensions(db: Db, projectId: string): Promise<number> {
  const { count } = await db
    .selectFrom('extensions')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}
