// Keys that work on every page, outside of fields.
import { useEffect } from 'react'

/** A slash goes to the search of the page. */
export function useShortcuts(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
      if (isTyping(event.target) || document.querySelector('[role="dialog"], [role="alertdialog"]')) return
      const search = document.querySelector<HTMLInputElement>('#content input[type="search"]')
      if (!search) return
      event.preventDefault()
      search.select()
      search.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}

const isTyping = (target: EventTarget | null) =>
  target instanceof Element && target.closest('input, textarea, select, [contenteditable="true"]') !== null
