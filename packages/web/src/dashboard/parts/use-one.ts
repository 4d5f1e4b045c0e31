// One resource of the API, for its page.
import { useQuery, type QueryKey } from '@tanstack/react-query'
import { useApi } from '../api/context.ts'

/** `key`: the kind of the resource, then its id. `refetchMs`: for what GET /changes does not name. */
export function useOne<Row>(
  [kind, ...rest]: readonly [kind: string, ...unknown[]],
  read: (signal: AbortSignal) => PromiseLike<Row>,
  { refetchMs, isEnabled = true }: { refetchMs?: number; isEnabled?: boolean } = {},
) {
  const { projectId } = useApi()
  return useQuery<Row>({
    queryKey: [kind, 'one', projectId ?? null, ...rest] satisfies QueryKey,
    queryFn: ({ signal }) => Promise.resolve(read(signal)),
    // Not the one before.
    placeholderData: () => undefined,
    enabled: isEnabled,
    ...(refetchMs !== undefined && { refetchInterval: refetchMs }),
  })
}
