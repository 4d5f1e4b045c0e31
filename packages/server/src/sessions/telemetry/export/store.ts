// The rows of destinations, as their users see them.
import { sql } from 'kysely'
import { newId } from '@berth/kit/ids'
import { containing } from '../../../platform/database/like.ts'
import type { Db } from '../../../platform/database/schema.ts'
import { isId, nameKey } from './names.ts'
import type { DestinationRecord } from './types.ts'

export const destinationColumns = [
  'id',
  'project_id',
  'name',
  'name_key',
  'endpoint',
  'sealed_headers',
  'header_names',
  'description',
  'version',
  'created_at',
  'updated_at',
  'deleted_at',
  'server_id',
  'leased_until',
  'last_success_at',
  'last_error',
  'last_error_at',
  'consecutive_failures',
  'next_attempt_at',
  'delivered_events',
  'rejected_events',
  'expired_events',
] as const

/** Made before the row, because the sealed headers are bound to it. */
export const newDestinationId = (): string => newId()

export interface DestinationValues {
  readonly name: string
  readonly endpoint: string
  readonly sealedHeaders: Buffer | null
  readonly headerNames: readonly string[]
  readonly description: string | null
}

const columnsOf = (values: DestinationValues) => ({
  name: values.name,
  name_key: nameKey(values.name),
  endpoint: values.endpoint,
  sealed_headers: values.sealedHeaders,
  header_names: [...values.headerNames],
  description: values.description,
})

export async function insertDestination(
  tx: Db,
  projectId: string,
  { id, ...values }: DestinationValues & { id: string },
): Promise<DestinationRecord> {
  return tx
    .insertInto('telemetry_destinations')
    .values({ id, project_id: projectId, ...columnsOf(values) })
    .returning(destinationColumns)
    .executeTakeFirstOrThrow()
}

/** Deliveries start anew: what was wrong may be right now. */
export async function updateDestination(
  tx: Db,
  { id, project_id }: Pick<DestinationRecord, 'id' | 'project_id'>,
  values: DestinationValues,
): Promise<DestinationRecord> {
  return tx
    .updateTable('telemetry_destinations')
    .set({
      ...columnsOf(values),
      version: sql<number>`version + 1`,
      updated_at: sql`now()`,
      consecutive_failures: 0,
      next_attempt_at: null,
    })
    .where('id', '=', id)
    .where('project_id', '=', project_id)
    .returning(destinationColumns)
    .executeTakeFirstOrThrow()
}

interface FindOptions {
  /** Also one that was deleted, by its id. */
  readonly includesDeleted?: boolean
  /** `change` keeps others from using, changing and deleting it until the transaction ends; `use` from the last. */
  readonly lockFor?: 'change' | 'use'
}

/** An id wins over a name. A null project searches all projects. */
export async function findDestination(
  db: Db,
  projectId: string | null,
  { id, name }: { readonly id?: string | undefined; readonly name?: string | undefined },
  { includesDeleted = false, lockFor }: FindOptions = {},
): Promise<DestinationRecord | undefined> {
  let query = db.selectFrom('telemetry_destinations').select(destinationColumns)
  if (id !== undefined) query = query.where('id', '=', id)
  if (name !== undefined) query = query.where('name_key', '=', nameKey(name)).where('deleted_at', 'is', null)
  if (!includesDeleted) query = query.where('deleted_at', 'is', null)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  if (lockFor === 'change') query = query.forNoKeyUpdate()
  if (lockFor === 'use') query = query.forShare()
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst()
}

export const refOf = (idOrName: string) => (isId(idOrName) ? { id: idOrName } : { name: idOrName })

export async function listDestinations(
  db: Db,
  projectId: string | null,
  options: { query?: string; name?: string; limit: number; offset: number },
): Promise<DestinationRecord[]> {
  const { query: part, name, limit, offset } = options
  let query = db
    .selectFrom('telemetry_destinations')
    .select(destinationColumns)
    .where('deleted_at', 'is', null)
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  if (name) query = query.where('name_key', '=', nameKey(name))
  if (part) {
    const pattern = containing(part)
    query = query.where((where) =>
      where.or([
        where('name', 'ilike', pattern),
        where('name_key', 'like', containing(nameKey(part))),
        where('endpoint', 'ilike', pattern),
        where('id', '=', part),
      ]),
    )
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute()
}

export async function countDestinations(db: Db, projectId: string): Promise<number> {
  const { count } = await db
    .selectFrom('telemetry_destinations')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/** Removes the secrets at once, and what still waits to be delivered. */
export async function markDestinationDeleted(tx: Db, projectId: string, id: string): Promise<void> {
  await tx
    .updateTable('telemetry_destinations')
    .set({ deleted_at: sql`now()`, sealed_headers: null })
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .execute()
  await tx.deleteFrom('telemetry_exports').where('destination_id', '=', id).execute()
}

export interface Waiting {
  readonly backlog: number
  /** Deleted undelivered, and not counted in the destination's row yet. */
  readonly expired: number
}

/** By destination; those without exports are left out. */
export async function waitingFor(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, Waiting>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ id: string; backlog: string; expired: string }>`
    SELECT waiting.destination_id AS id, sum(waiting.expired) AS expired, coalesce(sum((
      SELECT greatest(least(waiting.until_seq, state.last_seq) - waiting.cursor, 0)
      FROM telemetry_sessions AS state WHERE state.session_id = waiting.session_id
    )), 0) AS backlog
    FROM telemetry_exports AS waiting WHERE waiting.destination_id = ANY (${ids}::text[])
    GROUP BY waiting.destination_id`.execute(db)
  return new Map(
    rows.map(({ id, backlog, expired }) => [id, { backlog: Number(backlog), expired: Number(expired) }]),
  )
}
