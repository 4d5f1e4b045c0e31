import type { Overview } from '@berth/contracts/overview'
import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/client.ts'

/** Warm instances are not announced by changes. */
const REFETCH_MS = 10_000

export const overviewQuery = (projectId: string | undefined) =>
  queryOptions({
    queryKey: ['overview', projectId ?? null],
    queryFn: ({ signal }) => ask<Overview>('/overview', { projectId, signal }),
    refetchInterval: REFETCH_MS,
  })
