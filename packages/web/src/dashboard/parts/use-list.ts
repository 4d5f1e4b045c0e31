// A list of the API, read page by page as somebody scrolls.
import { useCallback, useMemo } from 'react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useApi } from '../api/context.ts'

export const PAGE = 100

/** `key`: the kind of the resource, then what the list is filtered by. */
export function useList<Row>(
  key: readonly [kind: string, ...unknown[]],
  read: (page: { limit: number; offset: number }, signal: AbortSignal) => Promise<readonly Row[]>,
  { refetchMs }: { refetchMs?: number } = {},
) {
  const { projectId } = useApi()
  const [kind, ...filters] = key
  const query = useInfiniteQuery({
    queryKey: [kind, 'list', projectId ?? null, ...filters],
    queryFn: ({ pageParam, signal }) => read({ limit: PAGE, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: (lastPage: readonly Row[], pages) =>
      lastPage.length < PAGE ? undefined : pages.length * PAGE,
    ...(refetchMs !== undefined && { refetchInterval: refetchMs }),
  })
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const rows = useMemo(() => data?.pages.flat() ?? [], [data])
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  return { ...query, rows, onEnd }
}
