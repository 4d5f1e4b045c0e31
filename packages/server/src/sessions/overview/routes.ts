import { getOverview } from '@berth/contracts/overview'
import { route, type Route } from '../../http/call.ts'
import { projectOf } from '../../http/principal.ts'
import type { OverviewService } from './service.ts'

export function overviewRoutes(overview: OverviewService): Route[] {
  return [route(getOverview, (call) => overview.get(call.db, projectOf(call), call.query.days ?? 30))]
}
