import { getOrganizationLimits, updateOrganizationLimits } from '@berth/contracts/organization'
import { route, type Route } from '../../http/call.ts'
import type { OrganizationService } from './service.ts'

export function organizationRoutes(organization: OrganizationService): Route[] {
  return [
    route(getOrganizationLimits, ({ db }) => organization.getLimits(db)),
    route(updateOrganizationLimits, ({ db, body }) => organization.updateLimits(db, body)),
  ]
}
