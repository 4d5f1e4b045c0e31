// A list with what narrows it down above it, and how many there are.
import type { ReactNode } from 'react'
import { counted } from './counted.ts'
import { ListBody, type ListBodyProps } from './ListBody.tsx'
import { Search } from './Search.tsx'
import { useUrl } from './use-url.ts'

export interface ListProps<Row> extends Omit<ListBodyProps<Row>, 'isFiltered'> {
  /** What the search looks at; a list without one is not searched. */
  readonly search?: string
  readonly filters?: ReactNode
  /** Whether one of `filters` hides rows. */
  readonly isFiltered?: boolean
}

export function List<Row>({ search, filters, isFiltered = false, ...body }: ListProps<Row>) {
  const query = useUrl().text('q')
  const { rows, hasMore = false } = body.list
  return (
    <>
      {(search !== undefined || filters !== undefined) && (
        <div className="filters">
          {search !== undefined && <Search label={search} />}
          {filters}
          {rows.length > 0 && <Count count={rows.length} hasMore={hasMore} what={body.label} />}
        </div>
      )}
      <ListBody {...body} isFiltered={isFiltered || (search !== undefined && query !== '')} />
    </>
  )
}

export interface CountProps {
  readonly count: number
  /** More follow, of which the page does not know how many. */
  readonly hasMore: boolean
  /** The plural. */
  readonly what: string
}

export function Count({ count, hasMore, what }: CountProps) {
  return (
    <span className="count quiet number" title={hasMore ? 'More are read as you scroll' : undefined}>
      {counted(count, what, { hasMore })}
    </span>
  )
}
