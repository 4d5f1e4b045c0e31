// What the key of the caller may do. The API decides again at every call; this only keeps tools that it would refuse out
// of the list, so that no agent tries them.
import { getAuthContext } from '@berth/contracts/auth-context'
import type { Operation } from '@berth/contracts/operation'
import { expandScopes, type OperationScope } from '@berth/contracts/scopes'
import type { Api } from './api.ts'

export interface Caller {
  /** Undefined for a key without limits. */
  readonly scopes: ReadonlySet<OperationScope> | undefined
  /** Null for a key of the whole organisation. */
  readonly projectId: string | null
}

export async function askWhoCalls(api: Api): Promise<Caller> {
  const { authorization } = await api.call(getAuthContext)
  const { scopes = null, credential_scope: scope } = authorization
  return { scopes: scopes === null ? undefined : expandScopes(scopes), projectId: scope.project_id }
}

export function mayCall({ scopes, projectId }: Caller, operation: Operation): boolean {
  if (operation.auth === 'organization-key' && projectId !== null) return false
  if (scopes === undefined || operation.needsNoScope) return true
  return operation.scope !== null && scopes.has(operation.scope)
}
