// Copies blobs from one store to another and writes in each row where its blob is now. A blob counts when its copy was
// read back and has the sha256 of the row. So a kill at any point loses nothing: the next run goes on with the rows that
// still name the old store. Servers may run meanwhile: they go on with the old store, where everything stays.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Pool } from 'pg'
import { crashPoint } from '../errors/crash-point.ts'
import type { Db } from '../database/schema.ts'
import { rememberStore } from './registry.ts'
import { BlobExists, BlobMissing, BlobTooLarge, type BlobStore, type StoredBlob } from './store.ts'

const MOVE_LOCK = 7_236_814_012
const BATCH = 200
const AT_ONCE = 4
const UNFINISHED_MS = 3_600_000

export interface MoveOptions {
  readonly db: Db
  readonly pool: Pool
  readonly from: BlobStore
  readonly to: BlobStore
  /** Counts only. */
  readonly isDryRun: boolean
  /** Rows whose blob is not in `from`, or is damaged there, count as moved: they are lost in both. */
  readonly acceptsMissing: boolean
  readonly signal: AbortSignal
  readonly onProgress: (done: MoveProgress) => void
}

export interface MoveProgress {
  readonly files: number
  readonly bytes: number
  readonly allFiles: number
  readonly allBytes: number
}

export interface MoveResult {
  readonly moved: number
  /** Not in `from`. */
  readonly missing: readonly string[]
  /** In `from` with other bytes than their row says. */
  readonly damaged: readonly string[]
  /** Rows that name neither `to` nor `from`. */
  readonly elsewhere: number
  /** Rows that do not name `to` at the end. */
  readonly left: number
}

interface Row {
  readonly id: string
  readonly sha256: string
  readonly size_bytes: string
  readonly store: string | null
}

export async function moveBlobs(options: MoveOptions): Promise<MoveResult> {
  const { db, pool, from, to, isDryRun, signal } = options
  const [fromId, toId] = await Promise.all([from.identity(), to.identity()])
  if (fromId === toId) {
    throw new Error(`Cannot move files from ${from.location} to ${to.location}: both are the same store`)
  }
  await using lock = new AsyncDisposableStack()
  lock.use(await holdMoveLock(pool))
  const total = await countOf(db, { fromId })
  const missing: string[] = []
  const damaged: string[] = []
  let files = 0
  let bytes = 0
  if (!isDryRun) {
    await rememberStore(db, { id: toId, location: to.location, isRemote: to.isRemote })
    await to.removeUnfinished(new Date(to.now().getTime() - UNFINISHED_MS))
  }
  const work = async (row: Row) => {
    const outcome = isDryRun ? await look(row, from) : await moveOne(row, { ...options, toId })
    if (outcome === 'missing') missing.push(row.id)
    else if (outcome === 'damaged') damaged.push(row.id)
    else {
      files++
      bytes += Number(row.size_bytes)
    }
    if (outcome !== 'moved' && !isDryRun && options.acceptsMissing) await markMoved(db, row, toId)
    options.onProgress({ files, bytes, allFiles: total.files, allBytes: total.bytes })
  }
  await eachOf(rowsOf(db, { fromId }), work, signal)
  const { rows } = await sql<{ left: number; elsewhere: number }>`
    SELECT count(*)::int AS left,
      count(*) FILTER (WHERE store IS NOT NULL AND store <> ${fromId})::int AS elsewhere
    FROM blobs WHERE store IS DISTINCT FROM ${toId}`.execute(db)
  return { moved: files, missing, damaged, ...rows[0]! }
}

/** Removes from `from` what is in `to` for sure. Every row must name `to`. */
export async function deleteMoved({
  db,
  from,
  to,
  signal,
}: Pick<MoveOptions, 'db' | 'from' | 'to' | 'signal'>): Promise<number> {
  const toId = await to.identity()
  const left = await db
    .selectFrom('blobs')
    .select(sql<number>`count(*)::int`.as('count'))
    .where(sql<boolean>`store IS DISTINCT FROM ${toId}`)
    .executeTakeFirstOrThrow()
  if (left.count > 0) {
    throw new Error(
      `Cannot delete files in ${from.location}: ${left.count} files are not in ${to.location} yet`,
    )
  }
  let removed = 0
  for await (const { id } of from.list()) {
    signal.throwIfAborted()
    const row = await db.selectFrom('blobs').select('store').where('id', '=', id).executeTakeFirst()
    // What has no row belongs to somebody else, or to the sweep.
    if (row?.store !== toId) continue
    await from.remove(id)
    removed++
  }
  return removed
}

type Outcome = 'moved' | 'missing' | 'damaged'

async function look({ id }: Row, from: BlobStore): Promise<Outcome> {
  try {
    const content = await from.read(id, { start: 0, end: 0 })
    content.destroy()
    return 'moved'
  } catch (error) {
    if (error instanceof BlobMissing) return 'missing'
    throw error
  }
}

async function moveOne(
  row: Row,
  { db, from, to, toId, signal }: MoveOptions & { toId: string },
): Promise<Outcome> {
  const { id } = row
  try {
    if (!(await isIn(to, row)) && !(await copy(row, { from, to, signal }))) return 'damaged'
  } catch (error) {
    if (!(error instanceof BlobMissing)) throw error
    // It may have been deleted a moment ago.
    return (await db.selectFrom('blobs').select('id').where('id', '=', id).executeTakeFirst())
      ? 'missing'
      : 'moved'
  }
  crashPoint('blob-move-copied')
  // Nobody wants it any more, so nobody else would remove the copy.
  if (!(await markMoved(db, row, toId))) await to.remove(id)
  crashPoint('blob-move-recorded')
  return 'moved'
}

/** False if `from` has other bytes than the row says. */
async function copy(
  { id, sha256, size_bytes }: Row,
  { from, to, signal }: Pick<MoveOptions, 'from' | 'to' | 'signal'>,
): Promise<boolean> {
  const sizeBytes = Number(size_bytes)
  const put = async () => to.put(id, await from.read(id), { maxBytes: sizeBytes, signal })
  let stored: StoredBlob
  try {
    stored = await put().catch(async (error: unknown) => {
      if (!(error instanceof BlobExists)) throw error
      // Left by a run that was killed, and wrong.
      await to.remove(id)
      return put()
    })
  } catch (error) {
    if (error instanceof BlobTooLarge) return false
    throw error
  }
  crashPoint('blob-move-written')
  if (stored.sha256 !== sha256 || stored.sizeBytes !== sizeBytes) {
    await to.remove(id)
    return false
  }
  if (await isIn(to, { id, sha256 })) return true
  await to.remove(id)
  throw new Error(`Cannot move blob "${id}": ${to.location} gives back other bytes than it got`)
}

/** Reads all of it. */
async function isIn(store: BlobStore, { id, sha256 }: Pick<Row, 'id' | 'sha256'>): Promise<boolean> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of await store.read(id)) hash.update(chunk as Buffer)
  } catch (error) {
    if (error instanceof BlobMissing) return false
    throw error
  }
  return hash.digest('hex') === sha256
}

async function markMoved(db: Db, { id }: Row, toId: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('blobs')
    .set({ store: toId })
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Those from before stores had names may be in any directory. */
const isOf = (fromId: string) => sql<boolean>`(store = ${fromId} OR store IS NULL)`

async function countOf(db: Db, { fromId }: { fromId: string }): Promise<{ files: number; bytes: number }> {
  const row = await db
    .selectFrom('blobs')
    .select([sql<number>`count(*)::int`.as('files'), sql<string>`coalesce(sum(size_bytes), 0)`.as('bytes')])
    .where(isOf(fromId))
    .executeTakeFirstOrThrow()
  return { files: row.files, bytes: Number(row.bytes) }
}

async function* rowsOf(db: Db, { fromId }: { fromId: string }): AsyncIterable<Row> {
  for (let after = ''; ;) {
    const rows = await db
      .selectFrom('blobs')
      .select(['id', 'sha256', 'size_bytes', 'store'])
      .where('id', '>', after)
      .where(isOf(fromId))
      .orderBy('id')
      .limit(BATCH)
      .execute()
    yield* rows
    if (rows.length < BATCH) return
    after = rows.at(-1)!.id
  }
}

/** A few at once. The first failure ends all. */
async function eachOf(
  rows: AsyncIterable<Row>,
  work: (row: Row) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const iterator = rows[Symbol.asyncIterator]()
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const worker = async () => {
    try {
      for (;;) {
        either.throwIfAborted()
        const { done, value } = await iterator.next()
        if (done) return
        await work(value)
      }
    } catch (error) {
      failed.abort(error)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  either.throwIfAborted()
}

/** Two that move at once would copy everything twice. */
async function holdMoveLock(pool: Pool): Promise<AsyncDisposable> {
  const client = await pool.connect()
  const { rows } = await client.query<{ isMine: boolean }>('SELECT pg_try_advisory_lock($1) AS "isMine"', [
    MOVE_LOCK,
  ])
  if (!rows[0]!.isMine) {
    client.release()
    throw new Error('Cannot move files: another move-blobs is under way; wait for it to end')
  }
  return {
    [Symbol.asyncDispose]: async () => {
      await client.query('SELECT pg_advisory_unlock($1)', [MOVE_LOCK]).catch(() => {})
      client.release()
    },
  }
}
