import type { Selectable } from 'kysely'
import type { ConflictRule, VersionSource } from '@berth/contracts/profiles'
import type { ProfilesTable, ProfileVersionsTable } from '../../platform/database/schema.ts'

export type ProfileRecord = Selectable<ProfilesTable>
export type VersionRecord = Selectable<ProfileVersionsTable>

/** A profile's row with the other data that the API shows. */
export interface ProfileSummary extends ProfileRecord {
  /** Size of the current version. */
  readonly size_bytes: string | null
  readonly is_saving: boolean
}

/** An archive in the blob store that has no row in the database yet. */
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
  /** The saved session; null for an imported archive. */
  readonly browserId: string | null
  /** The rule when another version is current by now. */
  readonly onConflict: ConflictRule | 'refuse'
}

/** The profile of a session and how it is saved. */
export interface SessionProfile {
  readonly profileId: string
  readonly version: number | null
  readonly savesChanges: boolean
  readonly onConflict: ConflictRule
}
