import type { AuthContext } from '@berth/contracts/auth-context'
import { projectOf, type Principal } from '../../http/principal.ts'
import { ORGANIZATION_ID } from './types.ts'

/** Reads nothing: the edge has recognised the key, and forgets it as soon as it is deleted. */
export function authContextOf(call: { principal: Principal; projectId: string | null }): AuthContext {
  const { keyId, projectId, scopes } = call.principal
  return {
    authentication: { method: 'api_key', source: 'api_key', credential_id: keyId },
    principal: { type: 'api_key', id: keyId },
    organization: { id: ORGANIZATION_ID },
    authorization: {
      credential_scope: { project_id: projectId },
      effective_scope: { project_id: projectOf(call) },
      scopes: scopes === undefined ? null : [...scopes],
    },
  }
}
