// Counts and limits the viewers of each session on this server.
import type { Logger } from 'pino'
import { AppError } from '../../platform/errors/app-error.ts'
import { KeyedLimit } from '@berth/kit/keyed-limit'
import { linkExpired } from '../gateway/endings.ts'
import { atExpiry } from '../gateway/link-expiry.ts'
import type { LiveDoor } from '../gateway/gateway.ts'
import type { Pipe, PipeOptions } from '../gateway/splice.ts'
import { liveAudiences } from '../session/target.ts'
import type { Admitted } from '../gateway/upgrade.ts'
import { asksForReadOnly } from './read-only.ts'
import { Viewer } from './viewer.ts'

/** Somebody with the link of one login. */
interface LoginViewer {
  readonly sessionId: string
  isStuck: boolean
}

export interface ViewersOptions {
  readonly maxPerSession: number
  /** Whether the login of the session waits for its person now. */
  readonly isLoginStuck: (sessionId: string) => Promise<boolean>
  readonly log: Logger
}

export class Viewers implements LiveDoor {
  readonly #viewers: KeyedLimit
  readonly #options: ViewersOptions
  readonly #logins = new Set<LoginViewer>()

  constructor(options: ViewersOptions) {
    this.#viewers = new KeyedLimit(options.maxPerSession)
    this.#options = options
  }

  /** A login somewhere has moved on, or waits. */
  loginsChanged(): void {
    for (const login of this.#logins) void this.#look(login)
  }

  async #look(login: LoginViewer): Promise<void> {
    const { isLoginStuck, log } = this.#options
    try {
      login.isStuck = await isLoginStuck(login.sessionId)
    } catch (error) {
      login.isStuck = false
      log.warn({ err: error, sessionId: login.sessionId }, 'cannot read whether a login waits for its person')
    }
  }

  /** Throws when the session has reached its limit of viewers. */
  checkRoom(sessionId: string): void {
    if (!this.#viewers.hasRoom(sessionId)) throw this.#isFull()
  }

  enter(admitted: Admitted): Disposable {
    const { sessionId } = admitted
    checkTime(admitted)
    const place = this.#viewers.enter(sessionId)
    if (!place) throw this.#isFull()
    return place
  }

  #isFull(): AppError {
    const message = `Cannot watch: the session has ${this.#viewers.max} viewers already`
    return new AppError('too_many_requests', message, { headers: { 'retry-after': '5' } })
  }

  open(admitted: Admitted, options: PipeOptions): Pipe {
    const { expiresAt, sessionId } = admitted
    const login = isOfLogin(admitted) ? { sessionId, isStuck: false } : undefined
    if (login) {
      this.#logins.add(login)
      void this.#look(login)
    }
    const viewer = new Viewer({
      ...options,
      isReadOnly: isOnlyWatching(admitted),
      ...(login && { isLoginStuck: () => login.isStuck }),
      onEnd: () => {
        expiry[Symbol.dispose]()
        if (login) this.#logins.delete(login)
        options.onEnd()
      },
    })
    // The connection ends when the link expires.
    const expiry = atExpiry(expiresAt, () => viewer.close(linkExpired.code, linkExpired.reason))
    return viewer
  }
}

/** Exact to the second, as the link promises. Other tokens allow for clock differences. */
export function checkTime({ expiresAt }: Pick<Admitted, 'expiresAt'>): void {
  if (expiresAt <= Date.now()) throw new AppError('unauthorized', 'Cannot watch: the link has expired')
}

/** True when the token is read-only or the URL asks for read-only. */
export function isOnlyWatching({ audience, query }: Pick<Admitted, 'audience' | 'query'>): boolean {
  return audience === liveAudiences.readOnly || asksForReadOnly(query)
}

/** Such a link controls its browser only while the login waits for the person, and only the page of it. */
export function isOfLogin({ audience }: Pick<Admitted, 'audience'>): boolean {
  return audience === liveAudiences.login
}
