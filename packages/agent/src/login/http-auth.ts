// HTTP authentication: answers if there is an answer for the host, and cancels otherwise, because a prompt would wait
// for a user forever.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { isOfHosts } from './hosts.ts'

export type AskedAuth = NonNullable<PageSnapshot['http_auth']>

export interface Challenge {
  readonly source?: 'Server' | 'Proxy'
  readonly origin: string
  readonly scheme: string
  readonly realm: string
}

export interface Answer {
  readonly user: string
  readonly password: string
  readonly hosts: readonly string[]
}

export interface Decision {
  readonly response: object
  /** Undefined when the challenge was answered. */
  readonly asked: AskedAuth | undefined
}

const MAX_ORIGINS = 200
const MAX_LENGTH = 300

export class HttpAuth {
  #answer: Answer | undefined
  /** Origins and realms that rejected the answer. */
  readonly #rejectedAt = new Set<string>()
  readonly #sentBy = new Set<string>()

  set answer(answer: Answer) {
    const isSame = this.#answer?.user === answer.user && this.#answer.password === answer.password
    this.#answer = answer
    // Never repeat a rejected answer, because that can lock the account.
    if (!isSame) this.#rejectedAt.clear()
    if (!isSame) this.#sentBy.clear()
  }

  /** Called for each challenge of a request. */
  decide(requestId: string, { source, origin, scheme, realm }: Challenge): Decision {
    const place = `${origin} ${realm}`
    const isAnswered = this.#sentBy.delete(requestId)
    if (isAnswered && this.#rejectedAt.size < MAX_ORIGINS) this.#rejectedAt.add(place)
    const isRejected = isAnswered || this.#rejectedAt.has(place)
    const answer = this.#answer
    if (source !== 'Proxy' && answer && !isRejected && isOfHosts(origin, answer.hosts)) {
      const [oldest] = this.#sentBy
      if (this.#sentBy.size >= MAX_ORIGINS) this.#sentBy.delete(oldest!)
      this.#sentBy.add(requestId)
      return {
        response: { response: 'ProvideCredentials', username: answer.user, password: answer.password },
        asked: undefined,
      }
    }
    return {
      response: { response: 'CancelAuth' },
      asked: {
        origin: origin.slice(0, MAX_LENGTH),
        scheme: scheme.slice(0, MAX_LENGTH),
        realm: realm.slice(0, MAX_LENGTH),
        is_rejected: isRejected,
      },
    }
  }
}
