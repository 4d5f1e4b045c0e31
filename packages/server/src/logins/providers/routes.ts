import * as contract from '@berth/contracts/credential-providers'
import { route, type Route } from '../../http/call.ts'
import type { CredentialProviderService } from './service.ts'

export function credentialProviderRoutes(providers: CredentialProviderService): Route[] {
  return [
    route(contract.createCredentialProvider, ({ db, body }) => providers.create(db, body)),
    route(contract.listCredentialProviders, ({ db, query }) => providers.list(db, query)),
    route(contract.getCredentialProvider, ({ db, params }) => providers.get(db, params.id)),
    route(contract.updateCredentialProvider, ({ db, params, body }) => providers.update(db, params.id, body)),
    route(contract.deleteCredentialProvider, ({ db, params }) => providers.delete(db, params.id)),
    route(contract.listCredentialProviderItems, ({ params, signal }) => providers.items(params.id, signal)),
    route(contract.testCredentialProvider, ({ params, signal }) => providers.test(params.id, signal)),
  ]
}
