import * as contract from '@berth/contracts/credentials'
import { route, type Route } from '../../http/call.ts'
import type { CredentialService } from './service.ts'

export function credentialRoutes(credentials: CredentialService): Route[] {
  return [
    route(contract.createCredential, (call) => credentials.create(call.db, call, call.body)),
    route(contract.listCredentials, (call) => credentials.list(call.db, call, call.query)),
    route(contract.getCredential, (call) => credentials.get(call.db, call, call.params.id_or_name)),
    route(contract.updateCredential, (call) =>
      credentials.update(call.db, call, call.params.id_or_name, call.body),
    ),
    route(contract.deleteCredential, (call) => credentials.delete(call.db, call, call.params.id_or_name)),
    route(contract.deletePasskey, (call) =>
      credentials.deletePasskey(call.db, call, call.params.id_or_name, call.params.passkey_id),
    ),
    route(contract.getTotpCode, (call) => credentials.totpCode(call.db, call, call.params.id_or_name)),
  ]
}
