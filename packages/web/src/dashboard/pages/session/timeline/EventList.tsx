// The events as rows. Only those in sight are in the page.
import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { usePlayer, useShownMoment } from '../stage/player.ts'
import type { Line } from './event.ts'
import { lastBefore } from './moments.ts'
import { Thumbnail } from './Thumbnail.tsx'

const ROW = 28
const PICTURE_ROW = 76
const NEAR_END = 60

export interface EventListProps {
  readonly lines: readonly Line[]
  readonly startMs: number
  readonly opened: number | undefined
  readonly isLive: boolean
  readonly onOpen: (seq: number, ms: number) => void
}

export function EventList({ lines, startMs, opened, isLive, onOpen }: EventListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const player = usePlayer()
  const moment = useShownMoment()
  const [isAtEnd, setAtEnd] = useState(true)
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: useCallback(
      (index: number) => (lines[index]?.type === 'monitor_screenshot' ? PICTURE_ROW : ROW),
      [lines],
    ),
    // A new function makes the list measure all its rows again, so it is new only with new rows.
    getItemKey: useCallback((index: number) => lines[index]?.seq ?? index, [lines]),
    overscan: 8,
  })
  const current = useMemo(
    () => (moment === undefined ? -1 : lastBefore(lines, moment, ({ ms }) => ms)),
    [lines, moment],
  )
  useEffect(() => {
    if (current >= 0 && player.isPlaying) virtual.scrollToIndex(current, { align: 'center' })
  }, [current, player, virtual])
  useEffect(() => {
    if (isLive && isAtEnd && lines.length > 0) virtual.scrollToIndex(lines.length - 1, { align: 'end' })
  }, [isLive, isAtEnd, lines.length, virtual])
  // One that is out of sight is not in the page.
  const isInPage = virtual.getVirtualItems().some(({ index }) => lines[index]?.seq === opened)
  const openAt = (index: number) => {
    const line = lines[Math.min(Math.max(index, 0), lines.length - 1)]
    if (!line) return
    onOpen(line.seq, line.ms)
    virtual.scrollToIndex(lines.indexOf(line))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const at = lines.findIndex(({ seq }) => seq === opened)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    openAt(to)
  }
  return (
    <div
      className="events"
      ref={scroller}
      role="listbox"
      aria-label="Events"
      tabIndex={0}
      aria-activedescendant={isInPage ? `event-${opened}` : undefined}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
        setAtEnd(scrollHeight - scrollTop - clientHeight < NEAR_END)
      }
    >
      <div role="presentation" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, size, key }) => {
          const line = lines[index]
          if (!line) return null
          return (
            <div
              key={key}
              id={`event-${line.seq}`}
              role="option"
              aria-selected={line.seq === opened}
              className="event"
              data-tone={line.tone}
              data-category={line.category}
              data-now={index === current}
              style={{ height: size, transform: `translateY(${start}px)` }}
              onClick={() => onOpen(line.seq, line.ms)}
            >
              <span className="number event-time" title={new Date(line.ms).toLocaleString()}>
                {clock(line.ms - startMs)}
              </span>
              <span className="event-kind">{line.category}</span>
              <span className="event-text" title={line.text}>
                {line.text}
              </span>
              {line.type === 'monitor_screenshot' && <Thumbnail seq={line.seq} />}
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** Since the session was created: 1:02:03.4. */
function clock(ms: number): string {
  const tenths = Math.max(0, Math.floor(ms / 100))
  const [hours, minutes, seconds] = [
    Math.floor(tenths / 36_000),
    Math.floor(tenths / 600) % 60,
    Math.floor(tenths / 10) % 60,
  ]
  const rest = `${String(seconds).padStart(2, '0')}.${tenths % 10}`
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}
