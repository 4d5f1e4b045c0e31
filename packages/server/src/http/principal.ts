import type { OperationScope } from '@berth/contracts/scopes'
import type { Credential } from './credential.ts'

/** The caller: the API key or flow token of the request. */
export interface Principal {
  readonly keyId: string
  /** Null for an organisation-wide key. */
  readonly projectId: string | null
  /** The key of an archived project is recognised but may do nothing. */
  readonly isProjectArchived: boolean
  readonly creator: { readonly id: string; readonly name: string | null; readonly email: string }
  /** Set when the caller used a login flow's token instead of an API key. */
  readonly flowId?: string
  /** What the key may do; absent for a key without limits, and for tokens, which are limited by their paths. */
  readonly scopes?: ReadonlySet<OperationScope>
  /** The key of an app's deployment. */
  readonly isOfDeployment?: boolean
  /** Set when a person signed in with the key, and their browser sent the cookie. */
  readonly signInId?: string
}

/** Whether answers may contain links that let their holder act. */
export function hasScope({ scopes }: Principal, scope: OperationScope): boolean {
  return scopes === undefined || scopes.has(scope)
}

/** The project of a call: that of its key or, for an organisation-wide key, the one in its header. Null for all. */
export function projectOf({ principal, projectId }: CallOrigin): string | null {
  return principal.projectId ?? projectId
}

interface CallOrigin {
  readonly principal: Principal
  /** From a header; null without one. */
  readonly projectId: string | null
}

/** Recognises a login flow's token for its connection, or for itself. Returns undefined for anything else. */
export interface FlowAuthenticator {
  admit(
    token: string,
    place: { readonly connectionId: string } | { readonly flowId: string },
  ): Promise<Principal | undefined>
}

/** Recognises an API key or a sign-in. Returns undefined for anything else and never throws for bad input. */
export interface Authenticator {
  authenticate(credential: Credential): Principal | undefined | Promise<Principal | undefined>
}

/** Finds the active project that a header names, by id or by id-or-name. */
export interface ProjectResolver {
  resolve(reference: string, by: 'id' | 'id-or-name'): Promise<{ readonly id: string } | undefined>
}
