import { getAuthContext } from '@berth/contracts/auth-context'
import { getEntitlements, type Entitlements } from '@berth/contracts/entitlements'
import { getOrganizationLimits, updateOrganizationLimits } from '@berth/contracts/organization'
import { route, type Route } from '../../http/call.ts'
import { authContextOf } from './auth-context.ts'
import type { OrganizationService } from './service.ts'

export function organizationRoutes(organization: OrganizationService, entitlements: Entitlements): Route[] {
  return [
    route(getAuthContext, authContextOf),
    route(getOrganizationLimits, ({ db, principal }) => organization.getLimits(db, principal)),
    route(updateOrganizationLimits, ({ db, principal, body }) =>
      organization.updateLimits(db, principal, body),
    ),
    route(getEntitlements, () => entitlements),
  ]
}
