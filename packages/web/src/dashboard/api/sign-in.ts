// Who is signed in, and what they may do.
import type { SignIn } from '@berth/contracts/sign-in'
import { expandScopes, type OperationScope } from '@berth/contracts/scopes'
import { queryOptions } from '@tanstack/react-query'
import { ask } from './client.ts'
import { isSignedOut } from './problem.ts'
import { SIGN_IN_KEY } from './queries.ts'

const PATH = '/auth/sign_in'

/** Null: nobody is signed in. */
export const signInQuery = queryOptions({
  queryKey: SIGN_IN_KEY,
  queryFn: async ({ signal }) => {
    try {
      return await ask<SignIn>(PATH, { signal })
    } catch (error) {
      if (isSignedOut(error)) return null
      throw error
    }
  },
  staleTime: 60_000,
})

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
