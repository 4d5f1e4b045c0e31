// The states of a list: waiting, a problem, nothing yet, nothing that matches, or rows.
import type { ReactNode } from 'react'
import { Empty, Pending, type ReadState } from './Notes.tsx'
import { Table, type TableProps } from './Table.tsx'

export interface ListBodyProps<Row> extends Omit<TableProps<Row>, 'rows' | 'onEnd' | 'isBusy'> {
  readonly list: ReadState & {
    readonly rows: readonly Row[]
    readonly onEnd?: () => void
    readonly isPending: boolean
    readonly isPlaceholderData?: boolean
  }
  /** Whether rows may be missing because of a search or a filter. */
  readonly isFiltered: boolean
  readonly empty: ReactNode
}

export function ListBody<Row>({ list, isFiltered, empty, ...table }: ListBodyProps<Row>) {
  const { rows, isPending, error, onEnd, isPlaceholderData = false } = list
  if (rows.length > 0) return <Table {...table} rows={rows} onEnd={onEnd} isBusy={isPlaceholderData} />
  if (isPending || error) return <Pending query={list} what={table.label.toLowerCase()} />
  if (!isFiltered) return empty
  return <Empty icon="search" title="Nothing matches" text="Change the search or the filters." />
}
