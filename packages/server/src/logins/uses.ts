// What connections use from other rooms, so that it is not deleted while they need it.
import type { ProfileUse } from '../sessions/profiles/service.ts'
import type { ProxyUse } from '../sessions/proxies/types.ts'
import { countUsingProfile, countUsingProxy } from './connections/store.ts'
export { destinationUse } from './connections/destination-use.ts'
export { isStuck } from './connections/flow-store.ts'

export const profileUse: ProfileUse = { what: 'auth connections', countUsing: countUsingProfile }
export const proxyUse: ProxyUse = { what: 'auth connections', countUsing: countUsingProxy }
