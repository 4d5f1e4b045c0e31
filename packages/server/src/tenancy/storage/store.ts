import { sql, type RawBuilder } from 'kysely'
import type { StorageKind } from '@berth/contracts/projects'
import type { Db } from '../../platform/database/schema.ts'

/** One kind of what projects store, from the room that owns it. */
export interface StoredKind {
  readonly kind: StorageKind
  /** A query for its bytes in the project of the row `projects` around it. */
  readonly bytes: RawBuilder<unknown>
}

export interface ProjectUse {
  readonly name: string
  readonly maxBytes: number | null
  readonly byKind: Record<StorageKind, number>
}

const STORAGE_LOCKS = 7_236_817

/** Until the transaction ends. Always its first lock, so that no two wait for each other. */
export async function lockStorage(tx: Db, projectId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${STORAGE_LOCKS}, hashtext(${projectId}))`.execute(tx)
}

const sums = (kinds: readonly StoredKind[]) =>
  sql.join(kinds.map(({ kind, bytes }) => sql`coalesce((${bytes}), 0)::bigint AS ${sql.id(kind)}`))

export async function findUse(
  db: Db,
  projectId: string,
  kinds: readonly StoredKind[],
): Promise<ProjectUse | undefined> {
  const { rows } = await sql<Record<string, string> & { name: string; max_storage_bytes: string | null }>`
    SELECT name, max_storage_bytes, ${sums(kinds)} FROM projects WHERE id = ${projectId}`.execute(db)
  const [row] = rows
  if (!row) return undefined
  return {
    name: row.name,
    maxBytes: row.max_storage_bytes === null ? null : Number(row.max_storage_bytes),
    byKind: toNumbers(row, kinds),
  }
}

/** Of all projects together. */
export async function sumAll(db: Db, kinds: readonly StoredKind[]): Promise<Record<StorageKind, number>> {
  const totals = sql.join(kinds.map(({ kind }) => sql`sum(${sql.id(kind)})::bigint AS ${sql.id(kind)}`))
  const { rows } = await sql<Record<string, string>>`
    SELECT ${totals} FROM (SELECT ${sums(kinds)} FROM projects) AS each`.execute(db)
  return toNumbers(rows[0]!, kinds)
}

function toNumbers(
  row: Readonly<Record<string, string | null>>,
  kinds: readonly StoredKind[],
): Record<StorageKind, number> {
  return Object.fromEntries(kinds.map(({ kind }) => [kind, Number(row[kind])])) as Record<StorageKind, number>
}
