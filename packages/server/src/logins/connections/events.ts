// Streams the states of a connection's login flow as server-sent events: first the current state, then every change,
// until the flow ends. Any number of readers on any server; each gets what the row says, and nothing twice.
import { Readable } from 'node:stream'
import type { ManagedAuthEvent } from '@berth/contracts/auth-connections'
import { pause } from '@berth/kit/pause'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { findWithFlow } from './flow-store.ts'
import type { LinkMaker } from './links.ts'
import { isOver } from './transitions.ts'
import { toStateEvent } from './view.ts'

const HEARTBEAT_MS = 15_000
/** Announcements may be missed while their connection is down. */
const LOOK_EVERY_MS = 2_000
const RETRY_MS = 1_000
const MAX_STREAMS = 1_000

interface Place {
  readonly origin: string
  readonly showsCode: boolean
}

export class FlowEvents {
  readonly #db: Db
  readonly #links: LinkMaker
  readonly #waiting = new Map<string, Set<() => void>>()
  #count = 0

  constructor({ db, links }: { db: Db; links: LinkMaker }) {
    this.#db = db
    this.#links = links
  }

  changed(connectionId: string): void {
    for (const wake of this.#waiting.get(connectionId) ?? []) wake()
  }

  /** Follows the token's flow, or the latest one. */
  follow(connectionId: string, place: Place): Readable {
    if (this.#count >= MAX_STREAMS) {
      throw new AppError('too_many_requests', 'Cannot follow it: too many streams are open on this server', {
        headers: { 'retry-after': '5' },
      })
    }
    this.#count++
    const closing = new AbortController()
    const stream = Readable.from(this.#frames(connectionId, place, closing.signal), { objectMode: false })
    stream.once('close', () => {
      this.#count--
      closing.abort()
    })
    return stream
  }

  async *#frames(connectionId: string, place: Place, signal: AbortSignal): AsyncGenerator<string> {
    // Sends the response headers, which wait for the first bytes.
    yield ': following\n\n'
    let lastSent = ''
    let quietSince = performance.now()
    while (!signal.aborted) {
      const change = this.#change(connectionId, signal)
      try {
        const found = await findWithFlow(this.#db, null, connectionId)
        if (!found) return
        const { connection, flow } = found
        const now = flow ? `${flow.id} ${flow.version}` : ''
        if (flow && now !== lastSent) {
          lastSent = now
          quietSince = performance.now()
          const links = this.#links.of(flow, place)
          yield frame(toStateEvent(flow, { postLoginUrl: connection.post_login_url, links }))
        }
        if ((flow && isOver(flow)) || connection.deleted_at !== null) return
      } catch {
        // The database is down; continue when it is back.
        await pause(RETRY_MS, signal)
      }
      if (performance.now() - quietSince >= HEARTBEAT_MS) {
        quietSince = performance.now()
        yield frame({ event: 'sse_heartbeat', timestamp: new Date().toISOString() })
      }
      await change
    }
  }

  /** Subscribes before the database is read, so that no change is missed. */
  #change(connectionId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(connectionId) ?? new Set<() => void>()
      this.#waiting.set(connectionId, waiting)
      const done = () => {
        clearTimeout(timer)
        waiting.delete(done)
        if (waiting.size === 0) this.#waiting.delete(connectionId)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, LOOK_EVERY_MS)
      waiting.add(done)
      signal.addEventListener('abort', done)
    })
  }
}

function frame(event: ManagedAuthEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`
}
