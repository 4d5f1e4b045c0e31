// Which elements of a page are in sight.
import { useCallback, useEffect, useRef, useState } from 'react'

const none: ReadonlySet<string> = new Set()

/** `watch(id)` gives the ref for the element with that id. */
export function useVisible() {
  const [visible, setVisible] = useState(none)
  const observer = useRef<IntersectionObserver>(undefined)
  const idOf = useRef(new WeakMap<Element, string>())
  observer.current ??= new IntersectionObserver((entries) => {
    setVisible((old) => {
      const next = new Set(old)
      for (const { target, isIntersecting } of entries) {
        const id = idOf.current.get(target)
        if (id === undefined) continue
        if (isIntersecting) next.add(id)
        else next.delete(id)
      }
      return next
    })
  })
  useEffect(() => () => observer.current?.disconnect(), [])
  const watch = useCallback((element: HTMLElement | null, id: string) => {
    if (!element) return
    idOf.current.set(element, id)
    observer.current?.observe(element)
    return () => {
      observer.current?.unobserve(element)
      setVisible((old) => (old.has(id) ? new Set([...old].filter((each) => each !== id)) : old))
    }
  }, [])
  return { visible, watch }
}
