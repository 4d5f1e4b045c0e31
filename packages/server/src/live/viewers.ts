// Who watches which session through this server: how many may, and who is told of it.
import { AppError } from '../errors.ts'
import { linkExpired } from '../gateway/endings.ts'
import type { LiveDoor } from '../gateway/gateway.ts'
import type { Carrier, CarrierOptions } from '../gateway/splice.ts'
import { liveAudiences } from '../gateway/target.ts'
import type { Admitted } from '../gateway/upgrade.ts'
import { asksForReadOnly } from './read-only.ts'
import { Viewer } from './viewer.ts'

/** setTimeout takes no more. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

export interface ViewerEvent {
  readonly what: 'joined' | 'left'
  readonly sessionId: string
  readonly isReadOnly: boolean
  /** How long the viewer has been there, in milliseconds: 0 for one that joins. */
  readonly durationMs: number
}
export type ViewerListener = (event: ViewerEvent) => void

export class Viewers implements LiveDoor {
  readonly #mostPerSession: number
  readonly #countOf = new Map<string, number>()
  readonly #listeners = new Set<ViewerListener>()

  constructor({ mostPerSession }: { mostPerSession: number }) {
    this.#mostPerSession = mostPerSession
  }

  /** Told of every viewer that joins or leaves, until disposed. */
  listen(listener: ViewerListener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Throws for a session that has as many as it may. */
  checkRoom(sessionId: string): void {
    const most = this.#mostPerSession
    if ((this.#countOf.get(sessionId) ?? 0) < most) return
    throw new AppError('too_many_requests', `Cannot watch: the session has ${most} viewers already`, {
      headers: { 'retry-after': '5' },
    })
  }

  enter(admitted: Admitted): Disposable {
    const { sessionId } = admitted
    checkTime(admitted)
    this.checkRoom(sessionId)
    this.#countOf.set(sessionId, (this.#countOf.get(sessionId) ?? 0) + 1)
    return {
      [Symbol.dispose]: () => {
        const left = this.#countOf.get(sessionId)! - 1
        if (left > 0) this.#countOf.set(sessionId, left)
        else this.#countOf.delete(sessionId)
      },
    }
  }

  carry(admitted: Admitted, options: CarrierOptions): Carrier {
    const { sessionId, expiresAt } = admitted
    const isReadOnly = isOnlyWatching(admitted)
    const joinedAt = performance.now()
    const viewer = new Viewer({
      ...options,
      isReadOnly,
      onEnd: () => {
        clearTimeout(expiry)
        options.onEnd()
        const durationMs = Math.round(performance.now() - joinedAt)
        this.#tell({ what: 'left', sessionId, isReadOnly, durationMs })
      },
    })
    // The link is good for so long, and not only for coming in.
    const left = expiresAt - Date.now()
    const expire = () => viewer.close(linkExpired.code, linkExpired.reason)
    const expiry = left < LONGEST_TIMEOUT_MS ? setTimeout(expire, left).unref() : undefined
    this.#tell({ what: 'joined', sessionId, isReadOnly, durationMs: 0 })
    return viewer
  }

  #tell(event: ViewerEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

/** To the second, as it says so; other tokens have some leeway for clocks that differ. */
export function checkTime({ expiresAt }: Pick<Admitted, 'expiresAt'>): void {
  if (expiresAt <= Date.now()) throw new AppError('unauthorized', 'Cannot watch: the link has expired')
}

/** By the token, or because the URL asks for no more. */
export function isOnlyWatching({ audience, query }: Pick<Admitted, 'audience' | 'query'>): boolean {
  return audience !== liveAudiences.control || asksForReadOnly(query)
}
