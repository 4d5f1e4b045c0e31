// Who is signed in, and what they may do.
import type { SignIn } from '@berth/contracts/sign-in'
import { expandScopes, type OperationScope } from '@berth/contracts/scopes'
import { ask } from './client.ts'

const PATH = '/auth/sign_in'

export const getSignIn = (signal: AbortSignal) => ask<SignIn>(PATH, { signal })

/** The key is sent once, and kept nowhere. */
export const signIn = (key: string) =>
  ask<void>(PATH, { method: 'POST', headers: { authorization: `Bearer ${key}` } })

export const signOut = () => ask<void>(PATH, { method: 'DELETE' })

export interface Power {
  readonly signIn: SignIn
  /** Whether the key has the scope. The server decides; this only hides what would be refused. */
  can(scope: OperationScope): boolean
  /** Whether the key sees every project. */
  readonly isOrganization: boolean
}

export function powerOf(who: SignIn): Power {
  const { scopes } = who.key
  const granted = scopes === null ? undefined : expandScopes(scopes)
  return {
    signIn: who,
    can: (scope) => granted?.has(scope) ?? true,
    isOrganization: who.project === null,
  }
}
