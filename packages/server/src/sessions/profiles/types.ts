import type { Selectable } from 'kysely'
import type { ConflictRule, VersionSource } from '@berth/contracts/profiles'
import type { ProfilesTable, ProfileVersionsTable } from '../../platform/database/schema.ts'

export type ProfileRecord = Selectable<ProfilesTable>
export type VersionRecord = Selectable<ProfileVersionsTable>

/** With what the API shows besides its own row. */
export interface ProfileSummary extends ProfileRecord {
  /** Of its current version. */
  readonly size_bytes: string | null
  readonly is_saving: boolean
}

/** An archive that is in the blob store, and not known to the database yet. */
export interface StoredArchive {
  readonly versionId: string
  readonly sealedKey: Buffer
  readonly blob: { readonly id: string; readonly sizeBytes: number; readonly sha256: string }
  readonly sizeBytes: number
  readonly packedBytes: number
}

export interface NewVersion {
  readonly projectId: string
  readonly profileId: string
  readonly source: VersionSource
  readonly archive: StoredArchive
  /** The session that was saved; null for an archive that was imported. */
  readonly browserId: string | null
  /** The version that it knows of. */
  readonly basedOn: number | null
  /** What to do when another one is current. */
  readonly onConflict: ConflictRule | 'refuse'
}

/** How a session has its profile. */
export interface SessionProfile {
  readonly profileId: string
  readonly version: number | null
  readonly savesChanges: boolean
  readonly onConflict: ConflictRule
}
