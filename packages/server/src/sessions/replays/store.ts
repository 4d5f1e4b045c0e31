import { sql } from 'kysely'
import type { ReplayEnd } from '@berth/contracts/replays'
import type { Db } from '../../platform/database/schema.ts'
import type { NewReplay, ReplayRecord } from './types.ts'

const columns = [
  'id',
  'project_id',
  'browser_id',
  'server_id',
  'continues_id',
  'framerate',
  'max_duration_seconds',
  'record_audio',
  'state',
  'end_reason',
  'created_at',
  'started_at',
  'finished_at',
  'sealed_key',
  'chapters',
  'blob_id',
  'size_bytes',
  'duration_ms',
  'lost_ms',
  'links_valid_from',
] as const

export async function insertReplay(db: Db, replay: NewReplay): Promise<ReplayRecord> {
  return db
    .insertInto('replays')
    .values({
      id: replay.id,
      project_id: replay.projectId,
      browser_id: replay.browserId,
      server_id: replay.serverId,
      continues_id: replay.continuesId,
      framerate: replay.framerate,
      max_duration_seconds: replay.maxDurationSeconds,
      record_audio: replay.recordsAudio,
      sealed_key: replay.sealedKey,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function countOfBrowser(db: Db, browserId: string): Promise<number> {
  const { count } = await db
    .selectFrom('replays')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('browser_id', '=', browserId)
    .executeTakeFirstOrThrow()
  return count
}

/** Oldest first, without recordings that have not started. */
export async function listOfBrowser(db: Db, browserId: string): Promise<ReplayRecord[]> {
  return db
    .selectFrom('replays')
    .select(columns)
    .where('browser_id', '=', browserId)
    .where('state', '<>', 'starting')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export async function findReplay(db: Db, id: string): Promise<ReplayRecord | undefined> {
  return db
    .selectFrom('replays')
    .select(columns)
    .where('id', '=', id)
    .where('state', '<>', 'starting')
    .executeTakeFirst()
}

/** Of all recordings that are not finished. */
export async function liveReplayStates(db: Db): Promise<{ id: string; projectId: string; state: string }[]> {
  return (
    db
      .selectFrom('replays')
      .select(['id', 'project_id as projectId', 'state'])
      // Literals, so that the index applies.
      .where(sql<boolean>`state IN ('starting', 'recording', 'finishing')`)
      .execute()
  )
}

/** The running recordings of a session. */
export async function listRunning(db: Db, browserId: string): Promise<ReplayRecord[]> {
  return db
    .selectFrom('replays')
    .select(columns)
    .where('browser_id', '=', browserId)
    .where('state', '=', 'recording')
    .orderBy('created_at')
    .execute()
}

/** Recordings that this server has to finish. */
export async function listUnfinished(db: Db, serverId: string): Promise<ReplayRecord[]> {
  return db
    .selectFrom('replays')
    .select(columns)
    .where('server_id', '=', serverId)
    .where('state', 'in', ['starting', 'recording', 'finishing'])
    .orderBy('created_at')
    .execute()
}

/** In any state, because another server may have given them up. */
export async function listById(db: Db, ids: readonly string[]): Promise<ReplayRecord[]> {
  if (ids.length === 0) return []
  return db
    .selectFrom('replays')
    .select(columns)
    .where('id', 'in', [...ids])
    .execute()
}

export async function markRecording(tx: Db, id: string): Promise<ReplayRecord | undefined> {
  return tx
    .updateTable('replays')
    .set({ state: 'recording', started_at: sql`now()` })
    .where('id', '=', id)
    .where('state', '=', 'starting')
    .returning(columns)
    .executeTakeFirst()
}

/** So that a running recording counts as what its project stores. */
export async function setJournalBytes(db: Db, id: string, bytes: number): Promise<void> {
  await db
    .updateTable('replays')
    .set({ journal_bytes: String(bytes) })
    .where('id', '=', id)
    .execute()
}

/** The first reason and time stay. */
export async function markFinishing(db: Db, id: string, reason: ReplayEnd): Promise<void> {
  await db
    .updateTable('replays')
    .set({
      state: 'finishing',
      end_reason: sql`coalesce(end_reason, ${reason})`,
      finished_at: sql`coalesce(finished_at, now())`,
    })
    .where('id', '=', id)
    .where('state', 'in', ['recording', 'finishing'])
    .execute()
}

export async function markReady(
  tx: Db,
  id: string,
  video: { blobId: string; sizeBytes: number; durationMs: number; lostMs: number; chapters: Buffer | null },
): Promise<void> {
  await tx
    .updateTable('replays')
    .set({
      state: 'ready',
      blob_id: video.blobId,
      size_bytes: String(video.sizeBytes),
      duration_ms: String(video.durationMs),
      lost_ms: String(video.lostMs),
      chapters: video.chapters,
      end_reason: sql`coalesce(end_reason, 'interrupted')`,
      finished_at: sql`coalesce(finished_at, now())`,
    })
    .where('id', '=', id)
    .where('state', '<>', 'ready')
    .execute()
}

export async function markFailed(db: Db, id: string): Promise<void> {
  await db
    .updateTable('replays')
    .set({ state: 'failed', end_reason: 'failed', finished_at: sql`coalesce(finished_at, now())` })
    .where('id', '=', id)
    .where('state', '<>', 'ready')
    .execute()
}

export async function deleteReplay(db: Db, id: string): Promise<void> {
  await db.deleteFrom('replays').where('id', '=', id).execute()
}

/** Gives up recordings of servers that have been silent this long, because only those servers have the journals. */
export async function giveUpOfLostServers(db: Db, silentSeconds: number): Promise<void> {
  await db
    .updateTable('replays')
    .set({ state: 'failed', end_reason: 'interrupted', finished_at: sql`coalesce(finished_at, now())` })
    .where('state', 'in', ['starting', 'recording', 'finishing'])
    .where('server_id', 'in', (where) =>
      where
        .selectFrom('servers')
        .select('id')
        .where(sql<boolean>`seen_at < now() - make_interval(secs => ${silentSeconds})`),
    )
    .execute()
}

/** A recording without a video counts as its journal; a failed one has neither. */
export const replayBytes = sql`
  SELECT sum(CASE state WHEN 'ready' THEN size_bytes WHEN 'failed' THEN 0 ELSE journal_bytes END)
  FROM replays WHERE replays.project_id = projects.id`

/** Deletes rows and returns their blobs for the caller to remove. */
export async function deleteFinishedBefore(
  tx: Db,
  before: Date,
  limit: number,
): Promise<{ blob_id: string | null }[]> {
  return tx
    .deleteFrom('replays')
    .where('id', 'in', (where) =>
      where
        .selectFrom('replays')
        .select('id')
        .where('finished_at', '<', before.toISOString())
        .where('state', 'in', ['ready', 'failed'])
        .orderBy('finished_at')
        .limit(limit),
    )
    .returning('blob_id')
    .execute()
}
