// The last picture of each session that somebody watches, shared by all who watch it: ten open dashboards cost one picture
// a second. How many are taken at once is limited, for the server and for each project.
import { createHash } from 'node:crypto'
import { FairTurns, TooManyWaiting } from '@berth/kit/fair-turns'
import { AgentRefusal } from '../../instances/agent/errors.ts'
import { readPreview } from '../../instances/agent/previews.ts'
import { isOnStandby, type Session } from '../session/session.ts'

/** Pictures are not newer than this. Less than the pause between two looks of one watcher. */
const FRESH_MS = 900
/** After a failure: a session that hangs must not take turns of others. */
const FAILED_MS = 5_000
const TIMEOUT_MS = 2_000
const AT_ONCE = 32
const AT_ONCE_PER_PROJECT = 8
const MAX_WAITING_PER_PROJECT = 2_000
const FORBIDDEN = 403

export type Seen =
  | { readonly state: 'picture'; readonly etag: string; readonly data: string }
  | { readonly state: 'standby' | 'hidden' | 'unavailable' }

/** A place to look at one session. Dispose of it when nobody looks any more. */
export interface Window extends Disposable {
  look(session: Session): Promise<Seen>
}

interface Shared {
  watchers: number
  seen: Seen | undefined
  /** The agent's name for the last picture, and the picture. */
  known: { readonly version: string; readonly seen: Seen } | undefined
  looking: Promise<Seen> | undefined
  freshUntil: number
}

export class Pictures {
  readonly #turns = new FairTurns({
    atOnce: AT_ONCE,
    atOncePerKey: AT_ONCE_PER_PROJECT,
    maxWaitingPerKey: MAX_WAITING_PER_PROJECT,
  })
  /** Of sessions that are watched. */
  readonly #shared = new Map<string, Shared>()

  open({ id, leaseNumber }: Session, width: number): Window {
    // The next lease holder of a browser must not see what the previous one saw.
    const key = `${id}:${leaseNumber}:${width}`
    const shared: Shared = this.#shared.get(key) ?? {
      watchers: 0,
      seen: undefined,
      known: undefined,
      looking: undefined,
      freshUntil: 0,
    }
    this.#shared.set(key, shared)
    shared.watchers++
    let isOpen = true
    return {
      look: (session) => this.#look(shared, session, width),
      [Symbol.dispose]: () => {
        if (!isOpen) return
        isOpen = false
        shared.watchers--
        if (shared.watchers === 0) this.#shared.delete(key)
      },
    }
  }

  #look(shared: Shared, session: Session, width: number): Promise<Seen> {
    const { seen } = shared
    if (seen && performance.now() < shared.freshUntil) return Promise.resolve(seen)
    shared.looking ??= this.#take(shared, session, width)
      .then((taken) => {
        shared.seen = taken
        shared.freshUntil = performance.now() + (taken.state === 'unavailable' ? FAILED_MS : FRESH_MS)
        return taken
      })
      .finally(() => (shared.looking = undefined))
    return shared.looking
  }

  async #take(shared: Shared, session: Session, width: number): Promise<Seen> {
    try {
      // Before the turn: a session on standby needs none.
      const agent = session.peek()
      using acquired = new DisposableStack()
      acquired.use(await this.#turns.enter(session.projectId, session.ending))
      const late = new AbortController()
      const timer = setTimeout(() => late.abort(new Error('The picture takes too long')), TIMEOUT_MS)
      acquired.defer(() => clearTimeout(timer))
      const known = shared.known?.version
      const preview = await readPreview(agent, { width, known, signal: late.signal })
      if (!preview) return shared.known!.seen
      const { jpeg, version } = preview
      const etag = createHash('sha256').update(jpeg).digest('base64url').slice(0, 22)
      const seen: Seen = { state: 'picture', etag, data: jpeg.toString('base64') }
      shared.known = { version, seen }
      return seen
    } catch (error) {
      // The caller finds out what has become of the session.
      if (session.ending.aborted) throw session.ending.reason
      if (isOnStandby(error)) return { state: 'standby' }
      if (error instanceof AgentRefusal && error.status === FORBIDDEN) return { state: 'hidden' }
      if (error instanceof Error && !(error instanceof TooManyWaiting)) return { state: 'unavailable' }
      return shared.seen ?? { state: 'unavailable' }
    }
  }
}
