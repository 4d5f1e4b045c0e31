// Which store each server uses, and in which store each blob is: the database remembers both, so that servers with
// different stores over one database are noticed before they lose each other's files.
import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transaction.ts'

const REGISTRY_LOCK = 7_236_814_011
/** A server that was heard within this time may store a file at any moment. */
export const HEARD_WITHIN_SECONDS = 60

export interface UsedStore {
  readonly id: string
  readonly location: string
  /** Whether all servers are to use it. Directories may be one for each server. */
  readonly isRemote: boolean
}

/** Throws if another server, or what is stored, needs another store. */
export async function registerStore(pool: Pool, serverId: string, store: UsedStore): Promise<void> {
  await inTransaction(pool, async ({ db: tx }) => {
    await sql`SELECT pg_advisory_xact_lock(${REGISTRY_LOCK})`.execute(tx)
    await refuseOtherServers(tx, serverId, store)
    await refuseOtherBlobs(tx, store)
    await rememberStore(tx, store)
    await tx
      .insertInto('servers')
      .values({ id: serverId, blob_store: store.id })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({ blob_store: store.id, seen_at: sql<string>`now()` }),
      )
      .execute()
  })
}

export async function rememberStore(tx: Db, { id, location, isRemote }: UsedStore): Promise<void> {
  await tx
    .insertInto('blob_stores')
    .values({ id, location, is_remote: isRemote })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ location }))
    .execute()
}

interface OtherStore {
  readonly location: string
  readonly isRemote: boolean
}

async function refuseOtherServers(
  tx: Db,
  serverId: string,
  { id, location, isRemote }: UsedStore,
): Promise<void> {
  const { rows } = await sql<OtherStore & { serverId: string }>`
    SELECT servers.id AS "serverId", location, is_remote AS "isRemote" FROM servers
    JOIN blob_stores ON blob_stores.id = servers.blob_store
    WHERE servers.id <> ${serverId} AND servers.blob_store <> ${id}
      AND seen_at > now() - make_interval(secs => ${HEARD_WITHIN_SECONDS})`.execute(tx)
  const other = rows.find((row) => isRemote || row.isRemote)
  if (!other) return
  throw new Error(
    `Cannot use this database with files in ${location}: server ${other.serverId} runs with ${other.location}; set the same BERTH_BLOBS on all servers, or stop that one and wait ${HEARD_WITHIN_SECONDS} seconds`,
  )
}

async function refuseOtherBlobs(tx: Db, { id, location, isRemote }: UsedStore): Promise<void> {
  const { rows } = await sql<{
    store: string | null
    location: string | null
    isRemote: boolean
    count: string
  }>`
    SELECT store, location, coalesce(is_remote, false) AS "isRemote", count(*) FROM blobs
    LEFT JOIN blob_stores ON blob_stores.id = blobs.store
    WHERE store IS DISTINCT FROM ${id} GROUP BY 1, 2, 3 ORDER BY count(*) DESC`.execute(tx)
  const other = rows.find((row) => isRemote || row.isRemote)
  if (!other) return
  const where = other.location ?? 'the data directory of a server'
  throw new Error(
    `Cannot use this database with files in ${location}: ${other.count} of its files are in ${where}; set BERTH_BLOBS to that place, or move them with npm run admin -- move-blobs --from … --to …`,
  )
}

/** The servers that were heard recently, with the place of their files. */
export async function listLiveServers(db: Db): Promise<{ id: string; store: string | null }[]> {
  return db
    .selectFrom('servers')
    .select(['id', 'blob_store as store'])
    .where(sql<boolean>`seen_at > now() - make_interval(secs => ${HEARD_WITHIN_SECONDS})`)
    .execute()
}
