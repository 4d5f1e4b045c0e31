// The lines of a build or of a run, as they come.
import { useCallback, useEffect, useRef, useState } from 'react'
import { useFollow } from '../../api/follow.ts'
import { problemOf } from '../../api/problem.ts'

/** Older lines are dropped from the page. */
const MAX_LINES = 5_000
const SHOW_MS = 100

export interface LogLine {
  readonly text: string
  readonly isBad?: boolean
}

export interface LogOptions<Event> {
  readonly path: string
  readonly lineOf: (event: Event) => LogLine | undefined
  readonly isLast: (event: Event) => boolean
  readonly onEvent: (event: Event) => void
}

export interface Log {
  readonly lines: readonly LogLine[]
  readonly isOver: boolean
}

export function useLog<Event>({ path, lineOf, isLast, onEvent }: LogOptions<Event>): Log {
  const [log, setLog] = useState<Log>({ lines: [], isOver: false })
  const buffer = useRef<LogLine[]>([])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // A thousand lines a second must not be a thousand renderings.
  const show = useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      buffer.current = buffer.current.slice(-MAX_LINES)
      setLog((old) => ({ ...old, lines: buffer.current }))
    }, SHOW_MS)
  }, [])
  const add = (line: LogLine | undefined) => {
    if (!line) return
    buffer.current.push(line)
    show()
  }
  useFollow<Event>({
    path,
    isLast,
    onStart: () => {
      buffer.current = []
      show()
    },
    onEvent: (event) => {
      add(lineOf(event))
      onEvent(event)
    },
    onEnd: (error) => {
      if (error !== undefined) add({ text: problemOf(error).title, isBad: true })
      setLog((old) => ({ ...old, isOver: true }))
    },
  })
  return log
}
