import { useQueryClient } from '@tanstack/react-query'
import { SIGN_IN_KEY } from './queries.ts'
import { signOut } from './sign-in.ts'

/** Signs out. Nothing of what was read stays. */
export function useLeave(): () => Promise<void> {
  const queries = useQueryClient()
  return async () => {
    await signOut()
    queries.setQueryData(SIGN_IN_KEY, null)
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SIGN_IN_KEY[0] })
  }
}
