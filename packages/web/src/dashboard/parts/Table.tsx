// Rows of anything. Only those in sight are in the page, so ten thousand scroll as easily as ten. On a phone each row is
// a card.
import { memo, useCallback, useEffect, useRef, type KeyboardEvent, type ReactNode } from 'react'
import { useVirtualizer, type Range } from '@tanstack/react-virtual'

const ROW_HEIGHT = 48
const OVERSCAN = 12
/** Rows are drawn so many at a time: each change of the page costs a layout, however small it is. */
const ROWS_AT_ONCE = 8
/** Reads on before the end comes into sight. */
const AHEAD = 40

export interface Column<Row> {
  readonly name: string
  /** A CSS width of the grid, such as `1fr` or `120px`. */
  readonly width: string
  readonly render: (row: Row) => ReactNode
  /** On a phone, only these columns are shown. */
  readonly isMain?: boolean
  /** Its name is only read out. */
  readonly hasNoTitle?: boolean
}

export interface TableProps<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly idOf: (row: Row) => string
  readonly onOpen?: (row: Row) => void
  readonly selection?: Selection
  /** Called when the last rows come near. */
  readonly onEnd?: (() => void) | undefined
  /** Called with the first and the last row that are drawn. */
  readonly onRange?: ((first: number, last: number) => void) | undefined
  readonly rowHeight?: number
  readonly isBusy?: boolean
}

export interface Selection {
  readonly ids: ReadonlySet<string>
  readonly onChange: (ids: ReadonlySet<string>) => void
  /** Rows follow that are not read yet, so that all rows are not all that there are. */
  readonly hasMore: boolean
}

export function Table<Row>(props: TableProps<Row>) {
  const {
    label,
    rows,
    columns,
    idOf,
    onOpen,
    selection,
    onEnd,
    onRange,
    rowHeight = ROW_HEIGHT,
    isBusy = false,
  } = props
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    rangeExtractor: drawnRows,
    // A new function makes it measure all rows again, in every frame.
    getItemKey: useCallback((index: number) => idOf(rows[index]!), [rows, idOf]),
    // Scrolling needs no frame of its own for each event.
    useFlushSync: false,
  })
  const items = virtual.getVirtualItems()
  const first = items.at(0)?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= rows.length - AHEAD) onEnd?.()
    onRange?.(first, last)
  }, [first, last, rows.length, onEnd, onRange])
  const template = [...(selection ? ['36px'] : []), ...columns.map(({ width }) => width)].join(' ')
  // The handlers of rows stay the same from frame to frame, so that only new rows are drawn.
  const current = useRef(props)
  current.current = props
  const onToggle = useCallback((id: string) => {
    const chosen = current.current.selection
    chosen?.onChange(toggled(chosen.ids, id))
  }, [])
  const onKey = useCallback(
    (event: KeyboardEvent, index: number) => {
      const { rows: known, onOpen: open } = current.current
      onRowKey(event, {
        open: () => open?.(known[index]!),
        toggle: () => onToggle(current.current.idOf(known[index]!)),
        move: (by) => {
          const next = bound(index + by, known.length)
          virtual.scrollToIndex(next)
          requestAnimationFrame(() => {
            scroller.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus()
          })
        },
      })
    },
    [virtual, onToggle],
  )
  const onOpenRow = useCallback((row: Row) => current.current.onOpen?.(row), [])
  return (
    <div
      className="table"
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-busy={isBusy}
      style={{ '--columns': template, '--rows': `${virtual.getTotalSize()}px` } as React.CSSProperties}
    >
      <div role="rowgroup" className="table-head">
        <div role="row" aria-rowindex={1}>
          {selection && (
            <span role="columnheader" data-select="true">
              <input
                type="checkbox"
                aria-label={selection.hasMore ? `Select the first ${rows.length} rows` : 'Select all rows'}
                checked={rows.length > 0 && rows.every((row) => selection.ids.has(idOf(row)))}
                onChange={({ target }) =>
                  selection.onChange(target.checked ? new Set(rows.map(idOf)) : new Set())
                }
              />
            </span>
          )}
          {columns.map(({ name, isMain, hasNoTitle }) => (
            <span role="columnheader" key={name} data-main={isMain}>
              {hasNoTitle ? <span className="unseen">{name}</span> : name}
            </span>
          ))}
        </div>
      </div>
      {/* The keyboard must reach the rows that are out of sight. */}
      <div className="table-body" ref={scroller} role="rowgroup" tabIndex={-1}>
        <div role="presentation" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start, key }) => {
            const row = rows[index]!
            const id = idOf(row)
            return (
              <MemoRow
                key={key}
                row={row}
                id={id}
                index={index}
                start={start}
                height={rowHeight}
                columns={columns as readonly Column<unknown>[]}
                isSelected={selection?.ids.has(id)}
                onOpen={onOpen && (onOpenRow as (row: unknown) => void)}
                onToggle={onToggle}
                onKey={onKey}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

interface RowProps<Row> {
  readonly row: Row
  readonly id: string
  readonly index: number
  readonly start: number
  readonly height: number
  readonly columns: readonly Column<Row>[]
  /** Undefined: rows cannot be selected. */
  readonly isSelected: boolean | undefined
  readonly onOpen: ((row: Row) => void) | undefined
  readonly onToggle: (id: string) => void
  readonly onKey: (event: KeyboardEvent, index: number) => void
}

function DrawnRow<Row>(props: RowProps<Row>) {
  const { row, id, index, start, height, columns, isSelected, onOpen, onToggle, onKey } = props
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      data-index={index}
      data-selected={isSelected}
      tabIndex={onOpen ? 0 : undefined}
      className={onOpen ? 'opens' : ''}
      style={{ height, transform: `translateY(${start}px)` }}
      onClick={(event) => {
        // React sends it the events of a dialog that the row has opened, too.
        const isOwn = event.currentTarget.contains(event.target as Node)
        if (isOwn && !isControl(event.target)) onOpen?.(row)
      }}
      onKeyDown={(event) => {
        if (event.target === event.currentTarget) onKey(event, index)
      }}
    >
      {isSelected !== undefined && (
        <span role="cell" data-select="true">
          <input
            type="checkbox"
            aria-label={`Select ${id}`}
            checked={isSelected}
            onChange={() => onToggle(id)}
          />
        </span>
      )}
      {columns.map(({ name, render, isMain }) => (
        <span role="cell" key={name} data-main={isMain} data-name={name}>
          {render(row)}
        </span>
      ))}
    </div>
  )
}

// SAFETY: the rows and the columns of one table fit together.
const MemoRow = memo(DrawnRow) as typeof DrawnRow<unknown>

/** More than are in sight, up to whole steps, so that most frames of a scroll change nothing. */
function drawnRows({ startIndex, endIndex, overscan, count }: Range): number[] {
  const first = Math.floor(Math.max(startIndex - overscan, 0) / ROWS_AT_ONCE) * ROWS_AT_ONCE
  const end = Math.ceil((endIndex + 1 + overscan) / ROWS_AT_ONCE) * ROWS_AT_ONCE
  return Array.from({ length: Math.min(end, count) - first }, (_, index) => first + index)
}

const isControl = (target: EventTarget) =>
  (target as Element).closest('a, button, input, select, label') !== null
const bound = (index: number, count: number) => Math.min(Math.max(index, 0), count - 1)

interface RowActs {
  readonly open: () => void
  readonly toggle: () => void
  readonly move: (by: number) => void
}

const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
}

function onRowKey(event: KeyboardEvent, acts: RowActs): void {
  const step = steps[event.key]
  if (event.key === 'Enter') acts.open()
  else if (event.key === ' ') acts.toggle()
  else if (step !== undefined) acts.move(step)
  else return
  event.preventDefault()
}

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return next
}
