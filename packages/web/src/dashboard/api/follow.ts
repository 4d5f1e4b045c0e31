// Follows a stream of server-sent events for as long as the page shows it.
import { useEffect, useRef } from 'react'
import { eventsOf } from '../../shared/events.ts'
import { refusalOf } from './client.ts'
import { isFinal } from './problem.ts'

const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 10_000

export interface FollowOptions<Event> {
  /** Undefined: nothing to follow. */
  readonly path: string | undefined
  /** Each time it connects: the stored events come again. */
  readonly onStart?: () => void
  readonly onEvent: (event: Event) => void
  /** The stream said its last word, or will never answer. */
  readonly onEnd?: (error?: unknown) => void
  readonly isLast: (event: Event) => boolean
}

export function useFollow<Event>(options: FollowOptions<Event>): void {
  const { path } = options
  const latest = useRef(options)
  latest.current = options
  useEffect(() => {
    if (path === undefined) return undefined
    const over = new AbortController()
    void follow(path, latest, over.signal)
    return () => over.abort()
  }, [path])
}

async function follow<Event>(
  path: string,
  latest: { readonly current: FollowOptions<Event> },
  signal: AbortSignal,
): Promise<void> {
  let waitMs = FIRST_WAIT_MS
  while (!signal.aborted) {
    try {
      const answer = await fetch(path, { signal })
      if (!answer.ok) throw await refusalOf(answer)
      latest.current.onStart?.()
      for await (const event of eventsOf<Event>(answer)) {
        waitMs = FIRST_WAIT_MS
        latest.current.onEvent(event)
        if (latest.current.isLast(event)) return latest.current.onEnd?.()
      }
    } catch (error) {
      if (signal.aborted) return
      if (isFinal(error)) return latest.current.onEnd?.(error)
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)
  }
}
