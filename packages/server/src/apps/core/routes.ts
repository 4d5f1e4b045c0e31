import * as contract from '@berth/contracts/apps'
import type { Db } from '../../platform/database/schema.ts'
import { route, type Route } from '../../http/call.ts'
import { listApps } from './service.ts'

export function appRoutes(db: Db): Route[] {
  return [
    route(contract.listApps, ({ principal, projectId, query }) =>
      listApps(db, principal.projectId ?? projectId, query),
    ),
  ]
}
