// What the list of sessions is filtered by. The address holds it, so that links and the back button work.
import { useCallback, useMemo } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'

export const statuses = ['active', 'deleted', 'all'] as const
export type Status = (typeof statuses)[number]

export interface Filters {
  readonly status: Status
  readonly query: string
  readonly tags: Readonly<Record<string, string>>
}

interface Search {
  readonly status?: string
  readonly q?: string | number | boolean
  readonly tags?: string | number
}

export function useFilters() {
  const { status: shown, q, tags: packed } = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const status = statuses.find((each) => each === shown) ?? 'active'
  const query = String(q ?? '')
  const filters = useMemo(
    (): Filters => ({ status, query, tags: unpackTags(String(packed ?? '')) }),
    [status, query, packed],
  )
  const change = useCallback(
    (next: Partial<Filters>, { replace = false } = {}) => {
      const search = {
        ...(next.status !== undefined && { status: next.status === 'active' ? undefined : next.status }),
        ...(next.query !== undefined && { q: next.query === '' ? undefined : next.query }),
        ...(next.tags && { tags: packTags(next.tags) }),
      }
      void navigate({ to: '.', replace, search: (old: object) => ({ ...old, ...search }) })
    },
    [navigate],
  )
  return { filters, change }
}

export const isFiltered = ({ query, tags }: Filters) => query !== '' || Object.keys(tags).length > 0

/** `team=a&env=b`, with escapes as in any query. */
export function packTags(tags: Filters['tags']): string | undefined {
  const packed = new URLSearchParams(Object.entries(tags)).toString()
  return packed === '' ? undefined : packed
}

export const unpackTags = (packed: string): Filters['tags'] => Object.fromEntries(new URLSearchParams(packed))

/** `name=value`; a name alone has an empty value. */
export function parseTag(text: string): readonly [name: string, value: string] | undefined {
  const trimmed = text.trim()
  const at = trimmed.indexOf('=')
  const name = (at === -1 ? trimmed : trimmed.slice(0, at)).trim()
  if (name === '') return undefined
  return [name, at === -1 ? '' : trimmed.slice(at + 1).trim()]
}
