// Page actions on the browser of a session, whichever server the session is on. A login may wait minutes for the user
// while its page waits for another device, so the session stays awake until the page actions are disposed of. The caller
// limits that time.
import type {
  ActOrder,
  ActResult,
  LookOrder,
  PageSnapshot,
  PasskeysOrder,
  PasskeysState,
  StorageOrder,
  StorageResult,
  Photo,
  PhotoOrder,
  VisitOrder,
} from '@berth/contracts/page-snapshot'
import { BrowserUnavailable, type PageActions } from '@berth/login/run/page-actions'
import { awake, type Session } from '../../sessions/session/session.ts'
import type { AgentClient } from '../../instances/agent/client.ts'
import { AgentError } from '../../instances/agent/errors.ts'
import {
  actOnPage,
  hideSecrets,
  lookAtPage,
  orderPasskeys,
  replaceStorage,
  photographPage,
  visitPage,
} from '../../instances/agent/logins.ts'

const MAX_REASON_LENGTH = 500
/** The agent's status when Chromium is not available. */
const GONE = 410

type Work<T> = (agent: AgentClient, options: { signal: AbortSignal }) => Promise<T>

export class AgentPageActions implements PageActions, Disposable {
  readonly #session: Session
  readonly #held: Disposable

  constructor(session: Session) {
    this.#session = session
    this.#held = session.stayAwake()
  }

  async look(order: LookOrder, signal: AbortSignal): Promise<PageSnapshot> {
    return this.#ask((agent, options) => lookAtPage(agent, order, options), signal)
  }

  async visit(order: VisitOrder, signal: AbortSignal): Promise<PageSnapshot> {
    return this.#ask((agent, options) => visitPage(agent, order, options), signal)
  }

  async act(order: ActOrder, signal: AbortSignal): Promise<ActResult> {
    return this.#ask((agent, options) => actOnPage(agent, order, options), signal)
  }

  async photo(order: PhotoOrder, signal: AbortSignal): Promise<Photo> {
    return this.#ask((agent, options) => photographPage(agent, order, options), signal)
  }

  async hide(values: readonly string[]): Promise<void> {
    await this.#ask((agent, options) => hideSecrets(agent, values, options))
  }

  async passkeys(order: PasskeysOrder, signal: AbortSignal): Promise<PasskeysState> {
    return this.#ask((agent, options) => orderPasskeys(agent, order, options), signal)
  }

  async store(order: StorageOrder, signal: AbortSignal): Promise<StorageResult> {
    return this.#ask((agent, options) => replaceStorage(agent, order, options), signal)
  }

  [Symbol.dispose](): void {
    this.#held[Symbol.dispose]()
  }

  async #ask<T>(work: Work<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    const { ending } = this.#session
    const stop = signal ? AbortSignal.any([signal, ending]) : ending
    try {
      return await awake(this.#session, (agent) => work(agent, { signal: stop }))
    } catch (error) {
      signal?.throwIfAborted()
      throw this.#lost(error)
    }
  }

  #lost(error: unknown): BrowserUnavailable {
    const { ending } = this.#session
    if (ending.aborted)
      return new BrowserUnavailable('session', (ending.reason as Error).message, { cause: ending.reason })
    const { message } = error as Error
    if (error instanceof AgentError) {
      const lost = error.status === GONE ? 'browser' : 'agent'
      return new BrowserUnavailable(lost, message.slice(0, MAX_REASON_LENGTH), { cause: error })
    }
    return new BrowserUnavailable('agent', `The agent does not respond: ${message}`, { cause: error })
  }
}
