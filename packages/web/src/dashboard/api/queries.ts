// The cache of what the server said. Keys begin with the kind of the resource, as in GET /changes.
import { QueryClient, keepPreviousData } from '@tanstack/react-query'
import { isFinal, isSignedOut } from './problem.ts'

const RETRIES = 3
const STALE_MS = 5_000

export const SIGN_IN_KEY = ['sign_in'] as const

export function newQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        // The server may be on this machine, whatever the browser thinks of the network.
        networkMode: 'always',
        staleTime: STALE_MS,
        placeholderData: keepPreviousData,
        retry: (count, error) => !isFinal(error) && count < RETRIES,
        throwOnError: false,
      },
      mutations: { networkMode: 'always' },
    },
  })
  // The key was deleted or has expired: whatever noticed it first, the page asks for a key.
  client.getQueryCache().subscribe((event) => {
    if (event.type === 'updated' && event.action.type === 'error') lookAt(client, event.action.error)
  })
  client.getMutationCache().subscribe((event) => {
    if (event.type === 'updated' && event.action.type === 'error') lookAt(client, event.action.error)
  })
  return client
}

function lookAt(client: QueryClient, error: unknown): void {
  if (!isSignedOut(error) || client.getQueryData(SIGN_IN_KEY) === null) return
  client.setQueryData(SIGN_IN_KEY, null)
}

/** For what must not show another thing's data while its own is read. */
export const noPlaceholder = () => undefined
