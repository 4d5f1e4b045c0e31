// What a page shows is in its address: filters, tabs, and what is open. So the back button and links work.
import { useCallback } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'

type Value = string | number | boolean | undefined

export interface Url {
  /** An empty text when the address does not name it. */
  text(name: string): string
  has(name: string): boolean
  /** Undefined removes a name. `replace`: the back button skips the address before. */
  set(changes: Readonly<Record<string, Value>>, how?: { replace?: boolean }): void
}

export function useUrl(): Url {
  const search = useSearch({ strict: false }) as Readonly<Record<string, Value>>
  const navigate = useNavigate()
  const set = useCallback<Url['set']>(
    (changes, { replace = false } = {}) =>
      void navigate({ to: '.', replace, search: (old: object) => ({ ...old, ...changes }) }),
    [navigate],
  )
  return {
    text: (name) => (search[name] === undefined ? '' : String(search[name])),
    has: (name) => search[name] !== undefined && search[name] !== false,
    set,
  }
}
