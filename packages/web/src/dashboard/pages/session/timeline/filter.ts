// What of the timeline is shown. It lives in the address.
import { useMemo } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Line } from './event.ts'
import type { Exchange } from './exchanges.ts'

export interface Filter {
  readonly q: string
  readonly categories: readonly string[]
  readonly isErrorsOnly: boolean
  readonly view: 'events' | 'network'
  /** The event that is open. */
  readonly event: number | undefined
}

interface Address {
  readonly q?: unknown
  readonly category?: unknown
  readonly errors?: unknown
  readonly view?: unknown
  readonly event?: unknown
}

export function useFilter(): [Filter, (change: Partial<Filter>) => void] {
  const { q, category, errors, view, event } = useSearch({ strict: false }) as Address
  const navigate = useNavigate()
  const filter = useMemo<Filter>(
    () => ({
      q: typeof q === 'string' || typeof q === 'number' ? String(q) : '',
      categories: typeof category === 'string' ? category.split(',') : [],
      isErrorsOnly: errors === true,
      view: view === 'network' ? 'network' : 'events',
      event: typeof event === 'number' ? event : undefined,
    }),
    [q, category, errors, view, event],
  )
  const change = (part: Partial<Filter>) => {
    const next = { ...filter, ...part }
    void navigate({
      to: '.',
      replace: true,
      search: (old: object) => ({
        ...old,
        q: next.q === '' ? undefined : next.q,
        category: next.categories.length === 0 ? undefined : next.categories.join(','),
        errors: next.isErrorsOnly ? true : undefined,
        view: next.view === 'network' ? 'network' : undefined,
        event: next.event,
      }),
    })
  }
  return [filter, change]
}

export function filterLines(
  lines: readonly Line[],
  { q, categories, isErrorsOnly }: Filter,
): readonly Line[] {
  if (q === '' && categories.length === 0 && !isErrorsOnly) return lines
  const text = q.toLowerCase()
  const wanted = new Set(categories)
  return lines.filter(
    ({ type, text: shown, category, tone }) =>
      (wanted.size === 0 || wanted.has(category)) &&
      (!isErrorsOnly || tone !== 'plain') &&
      (text === '' || type.includes(text) || shown.toLowerCase().includes(text)),
  )
}

export function filterExchanges(list: readonly Exchange[], { q, isErrorsOnly }: Filter): readonly Exchange[] {
  const text = q.toLowerCase()
  if (text === '' && !isErrorsOnly) return list
  return list.filter(
    ({ found, error, status = 0 }) =>
      (!isErrorsOnly || error !== undefined || status >= 400) && (text === '' || found.includes(text)),
  )
}
