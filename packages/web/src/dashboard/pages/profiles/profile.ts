import type { Profile } from '@berth/contracts/profiles'

export const titleOf = ({ name, id }: Pick<Profile, 'name' | 'id'>) => name ?? id

export const pathOf = ({ id }: Pick<Profile, 'id'>) => `/profiles/${encodeURIComponent(id)}`

/** A file name that every system takes. */
export const archiveName = (profile: Profile, version: number) =>
  `${titleOf(profile).replace(/[^\w.-]+/g, '_').slice(0, 80)}-${version}.tar.zst`
