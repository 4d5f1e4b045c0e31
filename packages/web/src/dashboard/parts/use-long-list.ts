// A list of the API of any length, read page by page as somebody scrolls. Only the pages in sight are read again when
// something changes; the others wait until they come into sight.
import { useCallback, useRef, useState } from 'react'
import { hashKey, useQueries, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import { useApi } from '../api/context.ts'

const PAGE = 100
/** Rows that are read before they come into sight. */
const AHEAD = 150

type Read<Row> = (page: { limit: number; offset: number }, signal: AbortSignal) => Promise<readonly Row[]>

export interface LongListOptions<Row> {
  /** The kind of the resource, then what the list is filtered by. */
  readonly key: readonly [kind: string, ...unknown[]]
  readonly read: Read<Row>
  readonly idOf: (row: Row) => string
  readonly refetchMs?: number
}

interface Sight {
  readonly hash: string
  readonly first: number
  readonly last: number
  readonly pages: number
}

export function useLongList<Row>({ key, read, idOf, refetchMs }: LongListOptions<Row>) {
  const { projectId } = useApi()
  const queries = useQueryClient()
  const [kind, ...filters] = key
  const listKey = [kind, 'list', projectId ?? null, ...filters]
  const hash = hashKey(listKey)
  const [sight, setSight] = useState<Sight>({ hash, first: 0, last: 0, pages: 1 })
  const { first, last, pages } = sight.hash === hash ? sight : { first: 0, last: 0, pages: 1 }
  const combine = useCallback(
    (results: UseQueryResult<readonly Row[]>[]) => {
      const known = results.map(({ data }) => data)
      const failed = results.find(({ error }) => error)
      return {
        rows: known[0] && joined(known, idOf),
        hasMore: known.at(-1)?.length === PAGE,
        error: failed?.error ?? null,
        isFetching: results.some(({ isFetching }) => isFetching),
      }
    },
    [idOf],
  )
  const { rows, hasMore, error, isFetching } = useQueries({
    queries: Array.from({ length: pages }, (_, page) => ({
      queryKey: [...listKey, page],
      queryFn: ({ signal }: { signal: AbortSignal }) => read({ limit: PAGE, offset: page * PAGE }, signal),
      enabled: page >= first && page <= last,
      placeholderData: undefined,
      ...(refetchMs !== undefined && { refetchInterval: refetchMs }),
    })),
    combine,
  })
  // While a new filter is answered, what was there stays.
  const before = useRef<readonly Row[]>(undefined)
  if (rows) before.current = rows
  const onRange = useCallback(
    (firstRow: number, lastRow: number) => {
      const next = {
        hash,
        first: Math.floor(firstRow / PAGE),
        last: Math.floor((lastRow + AHEAD) / PAGE),
      }
      setSight((old) => {
        const had = old.hash === hash ? old.pages : 1
        const known = hasMore ? had + 1 : had
        const lastKnown = Math.min(next.last, known - 1)
        const wanted = Math.max(had, lastKnown + 1)
        const isSame =
          old.hash === hash && old.first === next.first && old.last === lastKnown && old.pages === wanted
        return isSame ? old : { ...next, last: lastKnown, pages: wanted }
      })
    },
    [hash, hasMore],
  )
  const refetch = () => queries.refetchQueries({ queryKey: listKey, type: 'active' })
  return {
    rows: rows ?? before.current ?? [],
    isPending: rows === undefined && before.current === undefined,
    /** What is shown belongs to the filter of before. */
    isPrevious: rows === undefined && before.current !== undefined,
    hasMore,
    isFetching,
    error,
    refetch,
    onRange,
  }
}

/** Pages that were read at different moments may overlap. */
function joined<Row>(
  pages: readonly (readonly Row[] | undefined)[],
  idOf: (row: Row) => string,
): readonly Row[] {
  if (pages.length === 1) return pages[0]!
  const byId = new Map<string, Row>()
  for (const page of pages) for (const row of page ?? []) if (!byId.has(idOf(row))) byId.set(idOf(row), row)
  return [...byId.values()]
}
