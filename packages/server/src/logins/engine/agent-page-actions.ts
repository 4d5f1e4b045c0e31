// The browser of a session as a login sees it, on whichever server the session is. A login may wait for a person for
// minutes while its page waits, too, for an answer on another device: so the session neither times out nor sleeps for as
// long as there are pageActions. Whoever has them bounds that time.
import type { ActOrder, ActResult, LookOrder, PageSnapshot, VisitOrder } from '@berth/contracts/page-snapshot'
import { BrowserUnavailable, type PageActions } from '@berth/login/page-actions'
import { awake, type Session } from '../../sessions/session/session.ts'
import type { AgentClient } from '../../instances/agent/client.ts'
import { AgentError } from '../../instances/agent/errors.ts'
import { actOnPage, hideSecrets, lookAtPage, visitPage } from '../../instances/agent/logins.ts'

const MAX_REASON_LENGTH = 500
/** Chromium is not there. */
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

  async hide(values: readonly string[]): Promise<void> {
    await this.#ask((agent, options) => hideSecrets(agent, values, options))
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
    return new BrowserUnavailable('agent', `The agent does not answer: ${message}`, { cause: error })
  }
}
