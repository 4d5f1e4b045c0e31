// Small pictures of the sessions that are in sight, from one stream for all of them. Without anybody who looks there is
// no stream.
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { PreviewEvent, PreviewState } from '@berth/contracts/previews'
import { eventsOf } from '../../../shared/events.ts'
import { refusalOf } from '../../api/client.ts'
import { useApi } from '../../api/context.ts'
import { isFinal } from '../../api/problem.ts'

/** While somebody scrolls, what is in sight changes often. */
const SETTLE_MS = 300
const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 15_000
/** Pixels of a picture; a tile is about 280 wide. */
const WIDTH = 320

export interface Preview {
  readonly state: PreviewState
  /** The last picture, also when there is none at the moment. */
  readonly url?: string
}

/** By session id; what was seen stays while the session is on the page. */
export function usePreviews(visibleIds: ReadonlySet<string>): ReadonlyMap<string, Preview> {
  const { projectId } = useApi()
  const [previews, setPreviews] = useState<ReadonlyMap<string, Preview>>(new Map())
  const isSeen = useSyncExternalStore(onVisibility, () => document.visibilityState === 'visible')
  const ids = [...visibleIds].toSorted((a, b) => a.localeCompare(b)).join(',')
  useEffect(() => {
    if (ids === '' || !isSeen) return
    const over = new AbortController()
    const timer = setTimeout(() => {
      void follow({
        ids,
        projectId,
        signal: over.signal,
        onEvent: (event) =>
          setPreviews((old) => new Map(old).set(event.id, previewOf(event, old.get(event.id)))),
      })
    }, SETTLE_MS)
    return () => {
      clearTimeout(timer)
      over.abort()
    }
  }, [ids, isSeen, projectId])
  return previews
}

function onVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}

function previewOf({ state, data }: PreviewEvent, before: Preview | undefined): Preview {
  // A secret was on it.
  if (state === 'hidden') return { state }
  const url = data === undefined ? before?.url : `data:image/jpeg;base64,${data}`
  return { state, ...(url !== undefined && { url }) }
}

interface FollowOptions {
  readonly ids: string
  readonly projectId: string | undefined
  readonly signal: AbortSignal
  readonly onEvent: (event: PreviewEvent) => void
}

/** Until the signal aborts, all sessions have ended, or the server refuses for good. */
async function follow({ ids, projectId, signal, onEvent }: FollowOptions): Promise<void> {
  const left = new Set(ids.split(','))
  for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    try {
      const query = new URLSearchParams({ ids: [...left].join(','), width: String(WIDTH) })
      const answer = await fetch(`/previews?${query}`, {
        signal,
        headers: projectId === undefined ? {} : { 'x-kernel-project-id': projectId },
      })
      if (!answer.ok) throw await refusalOf(answer)
      for await (const event of eventsOf<PreviewEvent>(answer)) {
        waitMs = FIRST_WAIT_MS
        onEvent(event)
        if (event.state === 'ended') left.delete(event.id)
      }
    } catch (error) {
      if (isFinal(error)) return
    }
    if (left.size === 0) return
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs)
      signal.addEventListener('abort', () => (clearTimeout(timer), resolve(undefined)), { once: true })
    })
  }
}
