/** Reads the next rows of a list that is no table. */
export function ShowMore({ list: { rows, hasMore, onRange } }: ShowMoreProps) {
  if (!hasMore) return null
  return (
    <button type="button" onClick={() => onRange(0, rows.length)}>
      Show more
    </button>
  )
}

interface ShowMoreProps {
  readonly list: {
    readonly rows: readonly unknown[]
    readonly hasMore: boolean
    readonly onRange: (first: number, last: number) => void
  }
}
