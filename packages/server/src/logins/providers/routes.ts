import * as contract from '@berth/contracts/credential-providers'
import { route, type Route } from '../../http/call.ts'
import type { CredentialProviderService } from './service.ts'

export function credentialProviderRoutes(providers: CredentialProviderService): Route[] {
  return [
    route(contract.createCredentialProvider, (call) => providers.create(call.db, call, call.body)),
    route(contract.listCredentialProviders, (call) => providers.list(call.db, call, call.query)),
    route(contract.getCredentialProvider, (call) => providers.get(call.db, call, call.params.id)),
    route(contract.updateCredentialProvider, ({ db, params, body }) => providers.update(db, params.id, body)),
    route(contract.deleteCredentialProvider, ({ db, params }) => providers.delete(db, params.id)),
    route(contract.listCredentialProviderItems, ({ params, signal }) => providers.items(params.id, signal)),
    route(contract.testCredentialProvider, ({ params, signal }) => providers.test(params.id, signal)),
  ]
}
