import { useLayoutEffect, useRef } from 'react'
import { CopyButton } from '../../parts/Copy.tsx'
import type { Log } from './use-log.ts'

const NEAR_END_PX = 40

/** Stays at the end while it grows, unless somebody scrolled up. */
export function LogView({ label, log: { lines, isOver } }: { label: string; log: Log }) {
  const box = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [lines])
  return (
    <div className="code-block">
      <pre
        ref={box}
        className="log"
        role="log"
        aria-label={label}
        aria-live="off"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX
        }}
      >
        {lines.length === 0 ? (
          <span className="quiet">{isOver ? 'Nothing was written.' : 'Waiting for the first line…'}</span>
        ) : (
          lines.map(({ text, isBad }, index) => (
            <span key={index} className={isBad ? 'bad' : ''}>
              {text}
              {'\n'}
            </span>
          ))
        )}
      </pre>
      <CopyButton text={() => lines.map(({ text }) => text).join('\n')} label={`Copy: ${label}`} />
    </div>
  )
}
