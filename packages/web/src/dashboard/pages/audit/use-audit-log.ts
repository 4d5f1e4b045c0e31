// The audit log, page by page. Pages follow each other by a token, for the time window of the first.
import { useCallback, useMemo } from 'react'
import type { AuditLogEntry } from '@berth/contracts/audit-logs'
import { useInfiniteQuery } from '@tanstack/react-query'
import { refusalOf } from '../../api/client.ts'
import { useApi } from '../../api/context.ts'
import { queryOf, type Filters } from './range.ts'

const REFETCH_MS = 10_000

interface Next {
  readonly token: string
  readonly query: string
}

interface Part {
  readonly rows: readonly AuditLogEntry[]
  readonly next: Next | undefined
}

export function useAuditLog(filters: Filters) {
  const { projectId } = useApi()
  const query = useInfiniteQuery({
    queryKey: ['audit_log', projectId ?? null, filters],
    initialPageParam: undefined as Next | undefined,
    queryFn: async ({ pageParam, signal }): Promise<Part> => {
      const asked = pageParam?.query ?? queryOf(filters).toString()
      const token = pageParam === undefined ? '' : `&page_token=${encodeURIComponent(pageParam.token)}`
      const answer = await fetch(`/audit-logs?${asked}${token}`, {
        signal,
        headers: projectId === undefined ? {} : { 'x-kernel-project-id': projectId },
      })
      if (!answer.ok) throw await refusalOf(answer)
      const nextToken = answer.headers.get('x-next-page-token') ?? ''
      return {
        rows: (await answer.json()) as AuditLogEntry[],
        next: nextToken === '' ? undefined : { token: nextToken, query: asked },
      }
    },
    getNextPageParam: ({ next }) => next,
    // Not while somebody reads older pages: all of them would be read again.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : REFETCH_MS),
  })
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const rows = useMemo(() => data?.pages.flatMap((part) => part.rows) ?? [], [data])
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  return { ...query, rows, onEnd }
}
