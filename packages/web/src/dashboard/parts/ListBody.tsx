// The states of a list: waiting, a problem, nothing yet, nothing that matches, or rows.
import type { ReactNode } from 'react'
import { Empty, ErrorNote, Pending, type ReadState } from './Notes.tsx'
import { Table, type TableProps } from './Table.tsx'

/** As `useLongList` returns it. */
export interface ListState<Row> extends ReadState {
  readonly rows: readonly Row[]
  readonly isPending: boolean
  /** The rows belong to the filter of before. */
  readonly isPrevious?: boolean
  readonly hasMore?: boolean
  readonly onEnd?: () => void
  readonly onRange?: (first: number, last: number) => void
}

export interface ListBodyProps<Row> extends Omit<TableProps<Row>, 'rows' | 'onEnd' | 'onRange' | 'isBusy'> {
  readonly list: ListState<Row>
  /** Whether rows may be missing because of a search or a filter. */
  readonly isFiltered: boolean
  readonly empty: ReactNode
}

export function ListBody<Row>({ list, isFiltered, empty, ...table }: ListBodyProps<Row>) {
  const { rows, isPending, isPrevious = false, error, onEnd, onRange } = list
  if (rows.length > 0) {
    return (
      <>
        {error && !isPrevious ? <ErrorNote error={error} onRetry={() => void list.refetch()} /> : null}
        <Table {...table} rows={rows} onEnd={onEnd} onRange={onRange} isBusy={isPrevious} />
      </>
    )
  }
  if (isPending || error) return <Pending query={list} what={table.label.toLowerCase()} />
  if (!isFiltered) return empty
  return <Empty icon="search" title="Nothing matches" text="Change the search or the filters." />
}
