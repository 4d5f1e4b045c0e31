// What the organisation has in use, counted by the rooms that own it.
import { countConnectionsIn } from './logins/connections/store.ts'
import { readOccupancy } from './sessions/browsers/store.ts'
import type { OrganizationUse } from './tenancy/organization/types.ts'

export const organizationUse: OrganizationUse = {
  sessionPlaces: readOccupancy,
  authConnections: countConnectionsIn,
}
