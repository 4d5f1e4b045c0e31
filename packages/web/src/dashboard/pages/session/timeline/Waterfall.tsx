// Requests with a bar for their time. The bars are as long as the rows in sight need.
import { useRef, type KeyboardEvent } from 'react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { bytes, duration } from '../../../parts/Time.tsx'
import type { Exchange } from './exchanges.ts'

const ROW = 30
const MIN_SPAN_MS = 100

export interface WaterfallProps {
  readonly exchanges: readonly Exchange[]
  readonly opened: number | undefined
  readonly onOpen: (seq: number, ms: number) => void
}

export function Waterfall({ exchanges, opened, onOpen }: WaterfallProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: exchanges.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 4,
  })
  const items = virtual.getVirtualItems()
  const inSight = items.map(({ index }) => exchanges[index]).filter((each) => each !== undefined)
  const fromMs = inSight.reduce((least, { startMs }) => Math.min(least, startMs), Infinity)
  const toMs = inSight.reduce((most, { startMs, endMs }) => Math.max(most, endMs ?? startMs), 0)
  const isInPage = inSight.some(({ seq }) => seq === opened)
  const span = Math.max(toMs - fromMs, MIN_SPAN_MS)
  const onKeyDown = (event: KeyboardEvent) => {
    const at = exchanges.findIndex(({ seq }) => seq === opened)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key]
    const next = to === undefined ? undefined : exchanges[Math.max(to, 0)]
    if (!next) return
    event.preventDefault()
    onOpen(next.seq, next.startMs)
    virtual.scrollToIndex(exchanges.indexOf(next))
  }
  return (
    <div
      className="events waterfall"
      ref={scroller}
      role="listbox"
      aria-label="Requests"
      tabIndex={0}
      aria-activedescendant={isInPage ? `request-${opened}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const exchange = exchanges[index]
          if (!exchange) return null
          const { seq, method, url, type, status, error, startMs, endMs } = exchange
          return (
            <div
              key={seq}
              id={`request-${seq}`}
              role="option"
              aria-selected={seq === opened}
              className="event request"
              data-tone={toneOf(exchange)}
              style={{ height: ROW, transform: `translateY(${start}px)` }}
              onClick={() => onOpen(seq, startMs)}
            >
              <span className="number">{error === undefined ? (status ?? '…') : 'failed'}</span>
              <span className="request-url" title={`${method} ${url}`}>
                <b>{method}</b> <ShortUrl url={url} />
              </span>
              <span className="quiet request-type">{type}</span>
              <span className="number quiet">{sizeOf(exchange)}</span>
              <span className="number quiet">{endMs === undefined ? '' : duration(endMs - startMs)}</span>
              <Bar exchange={exchange} fromMs={fromMs} span={span} />
            </div>
          )
        })}
      </div>
    </div>
  )
}

function Bar({ exchange, fromMs, span }: { exchange: Exchange; fromMs: number; span: number }) {
  const { startMs, endMs, waitMs } = exchange
  const share = (ms: number) => `${Math.min(Math.max((ms / span) * 100, 0), 100)}%`
  const length = (endMs ?? fromMs + span) - startMs
  return (
    <span className="bar-room" aria-hidden="true">
      <span
        className="bar"
        data-open={endMs === undefined}
        style={{ left: share(startMs - fromMs), width: `max(2px, ${share(length)})` }}
      >
        {waitMs !== undefined && length > 0 && (
          <span style={{ width: `${Math.min((waitMs / length) * 100, 100)}%` }} />
        )}
      </span>
    </span>
  )
}

const sizeOf = ({ bytes: count, isCached }: Exchange) =>
  isCached === true ? 'cache' : count === undefined || Number.isNaN(count) ? '' : bytes(count)

const toneOf = ({ error, status = 0 }: Exchange) =>
  error === 'cancelled'
    ? 'warn'
    : error !== undefined || status >= 500
      ? 'bad'
      : status >= 400
        ? 'warn'
        : 'plain'

/** The path says more than the host, which is often that of the row before. */
function ShortUrl({ url }: { url: string }) {
  const parsed = URL.parse(url)
  if (!parsed || !parsed.protocol.startsWith('http')) return url.slice(0, 200)
  return (
    <>
      {parsed.pathname}
      {parsed.search} <span className="quiet">{parsed.host}</span>
    </>
  )
}
