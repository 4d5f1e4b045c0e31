// Profiles and their versions as the API shows them.
import type { Profile, ProfileVersion } from '@berth/contracts/profiles'
import type { ProfileRecord, ProfileSummary, VersionRecord } from './types.ts'

export function toProfile(record: ProfileRecord & Partial<ProfileSummary>): Profile {
  const { last_used_at, current_version, size_bytes, is_saving } = record
  return {
    id: record.id,
    name: record.name,
    created_at: record.created_at,
    updated_at: record.updated_at,
    ...(last_used_at !== null && { last_used_at }),
    ...(current_version !== null && { version: current_version }),
    ...(size_bytes && { size_bytes: Number(size_bytes) }),
    ...(is_saving !== undefined && { is_saving }),
  }
}

export function toVersion(record: VersionRecord, currentVersion: number | null): ProfileVersion {
  const { based_on, conflicts_with, browser_id } = record
  return {
    version: record.number,
    is_current: record.number === currentVersion,
    source: record.source,
    ...(based_on !== null && { based_on }),
    ...(conflicts_with !== null && { conflicts_with }),
    ...(browser_id !== null && { session_id: browser_id }),
    size_bytes: Number(record.size_bytes),
    created_at: record.created_at,
  }
}
