// HTTP authentication: answered where an answer was given for the host, and cancelled otherwise, as a prompt would wait
// for a person for ever.
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
  /** Undefined where it was answered. */
  readonly asked: AskedAuth | undefined
}

const MAX_ORIGINS = 200
const LONGEST = 300

export class HttpAuth {
  #answer: Answer | undefined
  /** Where it was sent and asked for again. */
  readonly #rejectedAt = new Set<string>()
  readonly #sentBy = new Set<string>()

  set answer(answer: Answer) {
    const isSame = this.#answer?.user === answer.user && this.#answer.password === answer.password
    this.#answer = answer
    // The same one once more would be refused once more, and accounts are locked for less.
    if (!isSame) this.#rejectedAt.clear()
    if (!isSame) this.#sentBy.clear()
  }

  /** Each time that a request is challenged. */
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
        origin: origin.slice(0, LONGEST),
        scheme: scheme.slice(0, LONGEST),
        realm: realm.slice(0, LONGEST),
        is_rejected: isRejected,
      },
    }
  }
}
