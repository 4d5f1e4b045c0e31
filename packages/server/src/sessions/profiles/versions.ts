// The only place that adds a version to a profile, in one transaction.
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import * as store from './store.ts'
import type { NewVersion, ProfileRecord, VersionRecord } from './types.ts'
import type { StorageLimits } from '../../tenancy/storage/storage-limits.ts'
import type { ArchiveStore } from './archive-store.ts'

export interface AddedVersion {
  readonly version: VersionRecord
  readonly isCurrent: boolean
  /** Blobs of pruned versions; the caller removes their bytes after the commit. */
  readonly removedBlobs: readonly string[]
}

/** Called in the transaction that changes a profile, to refresh browsers that started with the old version. */
export type OnProfileChange = (tx: Db, projectId: string, profileId: string) => Promise<void>

export interface VersionOptions {
  readonly archives: ArchiveStore
  readonly storage: StorageLimits
  /** How many versions a profile keeps. */
  readonly kept: number
  readonly onChange: OnProfileChange
}

/** Must come first in the transaction. Undefined when the profile was deleted; rejects when its project is full. */
export async function addVersion(
  tx: Db,
  added: NewVersion,
  options: VersionOptions,
): Promise<AddedVersion | undefined> {
  const { projectId, source } = added
  const action = source === 'import' ? 'import the archive' : 'save the session'
  return options.storage.guard(tx, { projectId, kind: 'profiles', action }, () => add(tx, added, options))
}

async function add(
  tx: Db,
  added: NewVersion,
  { archives, kept, onChange }: VersionOptions,
): Promise<AddedVersion | undefined> {
  const basedOn = added.browserId === null ? null : await store.lockBaseOf(tx, added.browserId)
  // This locks pools, so it runs before the profile is locked: the filler takes the two locks in the same order.
  if (added.onConflict !== 'keep') await onChange(tx, added.projectId, added.profileId)
  const profile = await store.lockProfile(tx, added.profileId)
  if (!profile) return undefined
  // An import replaces the current version on purpose, so it is never a conflict.
  const isConflict = added.source !== 'import' && basedOn !== profile.current_version
  if (isConflict && added.onConflict === 'refuse') throw conflict(profile, basedOn)
  const conflictsWith = isConflict ? profile.current_version : null
  const isCurrent = conflictsWith === null || added.onConflict !== 'keep'
  const number = profile.last_version + 1
  await archives.blobs.record(tx, 'profile', added.archive.blob)
  const version = await store.insertVersion(tx, number, { ...added, basedOn, conflictsWith })
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
  const start = basedOn === null ? 'when the profile was empty' : `with version ${basedOn}`
  const now = current_version === null ? 'empty' : `at version ${current_version}`
  return new AppError(
    'conflict',
    `Cannot save into profile "${name ?? id}": the session started ${start}, but the profile is now ${now}; ` +
      'set force to save anyway, which keeps both as versions',
  )
}
