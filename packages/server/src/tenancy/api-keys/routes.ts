import * as contract from '@berth/contracts/api-keys'
import { route, type Route } from '../../http/call.ts'
import type { ApiKeyService } from './service.ts'

export function apiKeyRoutes(keys: ApiKeyService): Route[] {
  return [
    route(contract.createApiKey, ({ db, principal, body }) => keys.create(db, principal, body)),
    route(contract.listApiKeys, ({ db, principal, query }) => keys.list(db, principal, query)),
    route(contract.getApiKey, ({ db, principal, params, query }) =>
      keys.get(db, principal, params.id, { includeDeleted: query.include_deleted ?? false }),
    ),
    route(contract.updateApiKey, ({ db, principal, params, body }) =>
      keys.rename(db, principal, params.id, body.name),
    ),
    route(contract.deleteApiKey, ({ db, principal, params }) => keys.delete(db, principal, params.id)),
    route(contract.rotateApiKey, ({ db, principal, params, body }) =>
      keys.rotate(db, principal, params.id, body),
    ),
  ]
}
