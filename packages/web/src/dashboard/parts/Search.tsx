import { useEffect, useState } from 'react'
import { useUrl } from './use-url.ts'

const WAIT_MS = 200

/** A search field whose text is in the address. */
export function Search({ name = 'q', label }: { name?: string; label: string }) {
  const url = useUrl()
  const current = url.text(name)
  const [text, setText] = useState(current)
  // Somebody went back, or cleared the filters.
  useEffect(() => setText(current), [current])
  useEffect(() => {
    if (text === current) return
    const timer = setTimeout(
      () => url.set({ [name]: text === '' ? undefined : text }, { replace: true }),
      WAIT_MS,
    )
    return () => clearTimeout(timer)
    // Only what is typed counts; the address follows it.
  }, [text])
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  )
}
