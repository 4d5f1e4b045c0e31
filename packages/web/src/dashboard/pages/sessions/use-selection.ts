// Which sessions are chosen. Those that no page of the list has yet can be chosen, too: then all that match are read.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Browser } from '@berth/contracts/browsers'
import { sayProblem } from '../../parts/toasts.ts'
import type { ReadSessions } from './SessionsPage.tsx'

/** As many as one page of the API has. */
const PAGE = 100
/** A person who wants more narrows it down, or writes a program. */
export const MAX_SELECTED = 10_000

const noIds: ReadonlySet<string> = new Set()

export interface Selection {
  readonly ids: ReadonlySet<string>
  /** Those of the chosen ones that run. */
  readonly running: readonly Browser[]
  /** How many are read so far, while all are read. */
  readonly reading: number | undefined
  readonly choose: (ids: ReadonlySet<string>) => void
  readonly chooseAll: () => void
  readonly stopReading: () => void
}

/** `key` is another when the filters are: then nothing is chosen. */
export function useSelection(key: string, rows: readonly Browser[], read: ReadSessions): Selection {
  const [ids, setIds] = useState(noIds)
  const [all, setAll] = useState<readonly Browser[]>()
  const [reading, setReading] = useState<number>()
  const over = useRef<AbortController>(undefined)
  const stopReading = useCallback(() => over.current?.abort(), [])
  useEffect(
    () => () => {
      stopReading()
      setIds(noIds)
      setAll(undefined)
    },
    [key, stopReading],
  )
  const chooseAll = async () => {
    const { signal } = (over.current = new AbortController())
    setReading(0)
    try {
      const found = await readAll(read, signal, setReading)
      setAll(found)
      setIds(new Set(found.map(({ session_id: id }) => id)))
    } catch (error) {
      if (!signal.aborted) sayProblem(error)
    } finally {
      setReading(undefined)
    }
  }
  const running = useMemo(
    // What the list has is newer.
    () => unique([...rows, ...(all ?? [])]).filter((row) => ids.has(row.session_id) && !hasEnded(row)),
    [rows, all, ids],
  )
  return { ids, running, reading, choose: setIds, chooseAll: () => void chooseAll(), stopReading }
}

async function readAll(
  read: ReadSessions,
  signal: AbortSignal,
  onProgress: (count: number) => void,
): Promise<readonly Browser[]> {
  const found: Browser[] = []
  while (found.length < MAX_SELECTED) {
    const page = await read({ limit: PAGE, offset: found.length }, signal)
    found.push(...page)
    onProgress(found.length)
    if (page.length < PAGE) break
  }
  return found.slice(0, MAX_SELECTED)
}

const hasEnded = ({ deleted_at: at }: Browser) => at !== undefined

function unique(rows: readonly Browser[]): readonly Browser[] {
  const byId = new Map<string, Browser>()
  for (const row of rows) if (!byId.has(row.session_id)) byId.set(row.session_id, row)
  return [...byId.values()]
}
