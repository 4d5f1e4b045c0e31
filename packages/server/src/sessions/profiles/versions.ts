// The one place where a version becomes part of a profile: all of it in a transaction, or nothing.
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import * as store from './store.ts'
import type { NewVersion, ProfileRecord, VersionRecord } from './types.ts'
import type { ArchiveStore } from './archive-store.ts'

export interface AddedVersion {
  readonly version: VersionRecord
  readonly isCurrent: boolean
  /** Blobs of versions that made room; their bytes are to be removed after the commit. */
  readonly removedBlobs: readonly string[]
}

/** For who has browsers that began with what it was; in the transaction that changes it. */
export type OnProfileChange = (tx: Db, projectId: string, profileId: string) => Promise<void>

export interface VersionOptions {
  readonly archives: ArchiveStore
  /** How many a profile has. */
  readonly kept: number
  readonly onChange: OnProfileChange
}

/** Undefined when the profile is no more. */
export async function addVersion(
  tx: Db,
  added: NewVersion,
  { archives, kept, onChange }: VersionOptions,
): Promise<AddedVersion | undefined> {
  // Before the profile is locked: who fills a pool locks the pool first.
  if (added.onConflict !== 'keep') await onChange(tx, added.projectId, added.profileId)
  const profile = await store.lockProfile(tx, added.profileId)
  if (!profile) return undefined
  // Who imports an archive says that it is to be this one.
  const isConflict = added.source !== 'import' && added.basedOn !== profile.current_version
  if (isConflict && added.onConflict === 'refuse') throw conflict(profile, added.basedOn)
  const conflictsWith = isConflict ? profile.current_version : null
  const isCurrent = conflictsWith === null || added.onConflict !== 'keep'
  const number = profile.last_version + 1
  await archives.blobs.record(tx, 'profile', added.archive.blob)
  const version = await store.insertVersion(tx, number, { ...added, conflictsWith })
  await store.setLastVersion(tx, profile.id, { number, isCurrent })
  const removedBlobs = await store.pruneVersions(tx, profile.id, kept)
  await archives.blobs.forget(tx, removedBlobs)
  await announceChange(tx, isCurrent ? 'profileChanged' : 'profileUnchanged', { profileId: profile.id })
  return { version, isCurrent, removedBlobs }
}

export function conflict(
  { id, name, current_version }: Pick<ProfileRecord, 'id' | 'name' | 'current_version'>,
  basedOn: number | null,
): AppError {
  const began = basedOn === null ? 'when it was empty' : `with version ${basedOn}`
  const now = current_version === null ? 'empty' : `at version ${current_version}`
  return new AppError(
    'conflict',
    `Cannot save into profile "${name ?? id}": the session began ${began}, and the profile is ${now} since; ` +
      'set force to save all the same, which keeps both as versions',
  )
}
