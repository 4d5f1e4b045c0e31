import { sql } from 'kysely'
import { newId } from '@berth/kit/ids'
import { containing } from '../../platform/database/like.ts'
import type { Db } from '../../platform/database/schema.ts'
import { isLiveRow } from '../browsers/state.ts'
import type { SessionProfile, NewVersion, ProfileRecord, ProfileSummary, VersionRecord } from './types.ts'

const ID = /^[a-z][a-z0-9]{23}$/

const columns = [
  'profiles.id',
  'profiles.project_id',
  'profiles.name',
  'profiles.current_version',
  'profiles.last_version',
  'profiles.created_at',
  'profiles.updated_at',
  'profiles.last_used_at',
  'profiles.deleted_at',
] as const

const versionColumns = [
  'id',
  'profile_id',
  'number',
  'source',
  'based_on',
  'conflicts_with',
  'browser_id',
  'sealed_key',
  'blob_id',
  'size_bytes',
  'packed_bytes',
  'created_at',
] as const

export async function insertProfile(tx: Db, projectId: string, name: string | null): Promise<ProfileRecord> {
  return tx
    .insertInto('profiles')
    .values({ id: newId(), project_id: projectId, name })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** A null project selects all projects. */
const live = (db: Db, projectId: string | null) => {
  const query = db.selectFrom('profiles').where('profiles.deleted_at', 'is', null)
  return projectId === null ? query : query.where('profiles.project_id', '=', projectId)
}

const summaries = (db: Db, projectId: string | null) =>
  live(db, projectId)
    .leftJoin('profile_versions', (join) =>
      join
        .onRef('profile_versions.profile_id', '=', 'profiles.id')
        .onRef('profile_versions.number', '=', 'profiles.current_version'),
    )
    .select([
      ...columns,
      'profile_versions.size_bytes',
      sql<boolean>`EXISTS (SELECT FROM browsers WHERE profile_id = profiles.id AND profile_save = 'saving')`.as(
        'is_saving',
      ),
    ])

/** An id wins over a name that looks like one. */
export async function findProfile(
  db: Db,
  projectId: string | null,
  idOrName: string,
): Promise<ProfileSummary | undefined> {
  const byId = ID.test(idOrName) ? await findProfileBy(db, projectId, 'id', idOrName) : undefined
  return byId ?? findProfileBy(db, projectId, 'name', idOrName)
}

export async function findProfileBy(
  db: Db,
  projectId: string | null,
  column: 'id' | 'name',
  value: string,
): Promise<ProfileSummary | undefined> {
  return summaries(db, projectId)
    .where(`profiles.${column}`, '=', value)
    .orderBy('profiles.created_at', 'desc')
    .orderBy('profiles.id', 'desc')
    .executeTakeFirst()
}

/** Includes deleted profiles, because their sessions still show them. */
export async function listByIds(db: Db, ids: readonly string[]): Promise<ProfileRecord[]> {
  if (ids.length === 0) return []
  return db
    .selectFrom('profiles')
    .select(columns)
    .where('id', 'in', [...ids])
    .execute()
}

export async function listProfiles(
  db: Db,
  options: { projectId: string | null; query?: string; name?: string; limit: number; offset: number },
): Promise<ProfileSummary[]> {
  let query = summaries(db, options.projectId)
  if (options.query) {
    const part = containing(options.query)
    query = query.where((where) =>
      where.or([where('profiles.name', 'ilike', part), where('profiles.id', 'ilike', part)]),
    )
  }
  if (options.name !== undefined) query = query.where('profiles.name', '=', options.name)
  return query
    .orderBy('profiles.created_at', 'desc')
    .orderBy('profiles.id', 'desc')
    .limit(options.limit)
    .offset(options.offset)
    .execute()
}

/** Blocks other saves, restores and deletes of the profile until the transaction ends. */
export async function lockProfile(tx: Db, id: string): Promise<ProfileRecord | undefined> {
  return live(tx, null).select(columns).where('profiles.id', '=', id).forNoKeyUpdate().executeTakeFirst()
}

/** Changes nothing when the name is the same. */
export async function renameProfile(tx: Db, projectId: string, id: string, name: string): Promise<void> {
  await tx
    .updateTable('profiles')
    .set({ name, updated_at: sql`CASE WHEN name = ${name} THEN updated_at ELSE now() END` })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .execute()
}

/** Deletes the profile with all its versions. Returns their blobs for the caller to remove. */
export async function deleteProfile(tx: Db, projectId: string, id: string): Promise<string[]> {
  await tx
    .updateTable('profiles')
    .set({ deleted_at: sql`now()`, current_version: null })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .execute()
  const versions = await tx
    .deleteFrom('profile_versions')
    .where('profile_id', '=', id)
    .returning('blob_id')
    .execute()
  return versions.map(({ blob_id }) => blob_id)
}

export async function countProfiles(db: Db, projectId: string): Promise<number> {
  const { count } = await live(db, projectId)
    .select(sql<number>`count(*)::int`.as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Deleted profiles have no versions. */
export const profileBytes = sql`
  SELECT sum(packed_bytes) FROM profiles JOIN profile_versions ON profile_versions.profile_id = profiles.id
  WHERE profiles.project_id = projects.id AND profiles.deleted_at IS NULL`

export async function insertVersion(
  tx: Db,
  number: number,
  version: NewVersion & { readonly basedOn: number | null; readonly conflictsWith: number | null },
): Promise<VersionRecord> {
  const { archive } = version
  return tx
    .insertInto('profile_versions')
    .values({
      id: archive.versionId,
      profile_id: version.profileId,
      number,
      source: version.source,
      based_on: version.basedOn,
      conflicts_with: version.conflictsWith,
      browser_id: version.browserId,
      sealed_key: archive.sealedKey,
      blob_id: archive.blob.id,
      size_bytes: String(archive.sizeBytes),
      packed_bytes: String(archive.packedBytes),
    })
    .returning(versionColumns)
    .executeTakeFirstOrThrow()
}

export async function setLastVersion(
  tx: Db,
  id: string,
  { number, isCurrent }: { number: number; isCurrent: boolean },
): Promise<void> {
  await tx
    .updateTable('profiles')
    .set({ last_version: number, ...(isCurrent && { current_version: number, updated_at: sql`now()` }) })
    .where('id', '=', id)
    .execute()
}

export async function setCurrentVersion(tx: Db, id: string, number: number): Promise<void> {
  await tx
    .updateTable('profiles')
    .set({ current_version: number, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute()
}

/** Deletes the oldest versions beyond `kept`, never the current one. Returns their blobs for the caller to remove. */
export async function pruneVersions(tx: Db, profileId: string, kept: number): Promise<string[]> {
  const removed = await tx
    .deleteFrom('profile_versions')
    .where('profile_id', '=', profileId)
    .where('number', 'not in', (where) =>
      where
        .selectFrom('profile_versions')
        .select('number')
        .where('profile_id', '=', profileId)
        .orderBy('number', 'desc')
        .limit(kept),
    )
    .where('number', 'is distinct from', (where) =>
      where.selectFrom('profiles').select('current_version').where('id', '=', profileId),
    )
    .returning('blob_id')
    .execute()
  return removed.map(({ blob_id }) => blob_id)
}

export async function findVersion(
  db: Db,
  profileId: string,
  number: number,
): Promise<VersionRecord | undefined> {
  return db
    .selectFrom('profile_versions')
    .select(versionColumns)
    .where('profile_id', '=', profileId)
    .where('number', '=', number)
    .executeTakeFirst()
}

export async function listVersions(
  db: Db,
  profileId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<VersionRecord[]> {
  return db
    .selectFrom('profile_versions')
    .select(versionColumns)
    .where('profile_id', '=', profileId)
    .orderBy('number', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
}

/** True while an ended session is being saved into the profile. */
export async function isBeingSaved(db: Db, profileId: string): Promise<boolean> {
  const row = await db
    .selectFrom('browsers')
    .select('id')
    .where('profile_id', '=', profileId)
    .where('profile_save', '=', 'saving')
    .executeTakeFirst()
  return row !== undefined
}

/** True while this session, which has ended, is being saved. */
export async function isSaving(db: Db, browserId: string): Promise<boolean> {
  const row = await db
    .selectFrom('browsers')
    .select('id')
    .where('id', '=', browserId)
    .where('profile_save', '=', 'saving')
    .executeTakeFirst()
  return row !== undefined
}

/** False when the profile was deleted. */
export async function markUsed(tx: Db, projectId: string, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('profiles')
    .set({ last_used_at: sql`now()` })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** False when the session has a profile already or has ended. */
export async function giveToBrowser(tx: Db, browserId: string, profile: SessionProfile): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('browsers')
    .set({
      profile_id: profile.profileId,
      profile_version: profile.version,
      profile_save_changes: profile.savesChanges,
      profile_on_conflict: profile.onConflict,
    })
    .where('id', '=', browserId)
    .where('profile_id', 'is', null)
    .where(isLiveRow())
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function hasProfile(tx: Db, browserId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('browsers')
    .select('id')
    .where('id', '=', browserId)
    .where('profile_id', 'is not', null)
    .executeTakeFirst()
  return row !== undefined
}

const ATTACH_LOCKS = 7_236_815
/** Locks until the transaction ends; false when another request attaches a profile to the session. */
export async function lockAttaching(tx: Db, browserId: string): Promise<boolean> {
  const { rows } = await sql<{ isMine: boolean }>`
    SELECT pg_try_advisory_xact_lock(${ATTACH_LOCKS}, hashtext(${browserId})) AS "isMine"`.execute(tx)
  return rows[0]!.isMine
}

export interface BrowserSave {
  readonly id: string
  readonly project_id: string
  readonly profile_id: string
  readonly profile_version: number | null
  readonly profile_on_conflict: SessionProfile['onConflict'] | null
}

/** For an ended session; undefined when there is nothing to save or it is saved already. */
export async function beginSave(db: Db, browserId: string): Promise<BrowserSave | undefined> {
  return db
    .updateTable('browsers')
    .set({ profile_save: 'saving' })
    .where('id', '=', browserId)
    .where('profile_id', 'is not', null)
    .where('profile_save_changes', '=', true)
    .where((where) => where.or([where('profile_save', 'is', null), where('profile_save', '=', 'saving')]))
    .returning(['id', 'project_id', 'profile_id', 'profile_version', 'profile_on_conflict'])
    .$narrowType<{ profile_id: string }>()
    .executeTakeFirst()
}

/** Returns the version that the session is currently based on. */
export async function lockBaseOf(tx: Db, browserId: string): Promise<number | null> {
  const row = await tx
    .selectFrom('browsers')
    .select('profile_version')
    .where('id', '=', browserId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row?.profile_version ?? null
}

export async function setBase(tx: Db, browserId: string, version: number): Promise<void> {
  await tx.updateTable('browsers').set({ profile_version: version }).where('id', '=', browserId).execute()
}

export async function markSaved(
  tx: Db,
  browserId: string,
  { state, version }: { state: 'saved' | 'conflict'; version: number },
): Promise<void> {
  await tx
    .updateTable('browsers')
    .set({ profile_save: state, profile_saved_version: version })
    .where('id', '=', browserId)
    .execute()
}

/** Returns the profile id if a save was running. */
export async function markSaveFailed(db: Db, browserId: string, why: string): Promise<string | undefined> {
  const row = await db
    .updateTable('browsers')
    .set({ profile_save: 'failed', profile_save_message: why })
    .where('id', '=', browserId)
    .where('profile_save', '=', 'saving')
    .returning('profile_id')
    .executeTakeFirst()
  return row?.profile_id ?? undefined
}

/** Sessions of this server that are marked as saving. */
export async function listSavesOf(db: Db, serverId: string): Promise<{ id: string }[]> {
  return db
    .selectFrom('browsers')
    .select('id')
    .where('profile_save', '=', 'saving')
    .where('server_id', '=', serverId)
    .execute()
}

export async function isVersionKnown(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('profile_versions').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

/** Saves of servers that have been silent so long that their instances have ended themselves. */
export async function listSavesOfLostServers(db: Db, silentSeconds: number): Promise<{ id: string }[]> {
  return db
    .selectFrom('browsers')
    .select('id')
    .where('profile_save', '=', 'saving')
    .where('server_id', 'in', (where) =>
      where
        .selectFrom('servers')
        .select('id')
        .where(sql<boolean>`seen_at < now() - make_interval(secs => ${silentSeconds})`),
    )
    .execute()
}
