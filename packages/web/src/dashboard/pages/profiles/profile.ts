import type { Profile } from '@berth/contracts/profiles'

export const titleOf = ({ name, id }: Pick<Profile, 'name' | 'id'>) => name ?? id

export const pathOf = ({ id }: Pick<Profile, 'id'>) => `/profiles/${encodeURIComponent(id)}`
