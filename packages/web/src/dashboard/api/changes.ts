// Follows what changes on the server, so that pages show it without asking again and again.
import { useEffect, useState } from 'react'
import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { eventsOf } from '../../shared/events.ts'
import { refusalOf } from './client.ts'
import { isSignedOut } from './problem.ts'
import { SIGN_IN_KEY } from './queries.ts'

const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 10_000
/** A list that many sessions change is read again this often. */
const GATHER_MS = 1_000

export type Connection = 'connecting' | 'live' | 'lost'

interface Change {
  readonly kind: string
  readonly ids?: readonly string[] | null
}

/** Returns whether the page is up to date. */
export function useChanges(projectId: string | undefined): Connection {
  const queries = useQueryClient()
  const [connection, setConnection] = useState<Connection>('connecting')
  useEffect(() => {
    const over = new AbortController()
    void follow({ projectId, queries, signal: over.signal, onConnection: setConnection })
    return () => over.abort()
  }, [projectId, queries])
  return connection
}

interface FollowOptions {
  readonly projectId: string | undefined
  readonly queries: QueryClient
  readonly signal: AbortSignal
  readonly onConnection: (connection: Connection) => void
}

async function follow({ projectId, queries, signal, onConnection }: FollowOptions): Promise<void> {
  const gathered = new Gathered(queries)
  let waitMs = FIRST_WAIT_MS
  let wasLost = false
  while (!signal.aborted) {
    try {
      const answer = await fetch('/changes', {
        signal,
        headers: projectId === undefined ? {} : { 'x-kernel-project-id': projectId },
      })
      if (!answer.ok) throw await refusalOf(answer)
      for await (const change of eventsOf<Change>(answer)) {
        waitMs = FIRST_WAIT_MS
        onConnection('live')
        gathered.add(change, { isUrgent: wasLost && change.kind === 'hello' })
      }
    } catch (error) {
      if (isSignedOut(error)) return void queries.setQueryData(SIGN_IN_KEY, null)
    }
    if (signal.aborted) return
    onConnection('lost')
    wasLost = true
    await pause(waitMs * (0.75 + Math.random() / 2), signal)
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)
  }
}

/** Reads again what changed, once in a while at most, and only what some page shows. */
class Gathered {
  readonly #queries: QueryClient
  readonly #kinds = new Set<string>()

  constructor(queries: QueryClient) {
    this.#queries = queries
  }

  /**
   * `isUrgent`: what the page shows has been old for a while. A page that has just begun to read is not, and to read
   * everything twice at once would make it late.
   */
  add({ kind }: Change, { isUrgent }: { isUrgent: boolean }): void {
    if (this.#kinds.size === 0) setTimeout(() => this.#tell(), isUrgent ? 0 : GATHER_MS)
    this.#kinds.add(kind)
  }

  #tell(): void {
    const kinds = [...this.#kinds]
    this.#kinds.clear()
    // The first word of each connection: whatever happened before it was not heard.
    if (kinds.includes('hello')) {
      void this.#queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== SIGN_IN_KEY[0] })
      return
    }
    // Browsers that start, are leased or end change what pools and the overview say.
    const more = kinds.includes('browser') ? ['overview', 'browser_pool'] : []
    for (const kind of new Set([...kinds, ...more])) {
      void this.#queries.invalidateQueries({ queryKey: [kind] })
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
