/** Who is calling: the API key behind the request. */
export interface Principal {
  readonly keyId: string
  /** Null: the key is organisation-wide. */
  readonly projectId: string | null
  /** A key of an archived project is recognised, and can do nothing. */
  readonly isProjectArchived: boolean
  readonly creator: { readonly id: string; readonly name: string | null; readonly email: string }
  /** The login flow whose token it is, and no API key. */
  readonly flowId?: string
}

/** Recognises the token of a login flow for a connection; undefined for anything else. */
export interface FlowAuthenticator {
  admit(token: string, connectionId: string): Promise<Principal | undefined>
}

/** Recognises a key; undefined for anything it does not know. Never throws for bad input. */
export interface Authenticator {
  authenticate(key: string): Principal | undefined | Promise<Principal | undefined>
}

/** Finds the active project a header names, by id or by id-or-name. */
export interface ProjectResolver {
  resolve(reference: string, by: 'id' | 'id-or-name'): Promise<{ readonly id: string } | undefined>
}
