// Streams the states of a connection's login flow: first the current state, then what follows, until the flow ends.
// Each reader gets what the row says, and nothing twice. A state that another one replaces at once may be left out; a
// question is not, because only its answer replaces it. Published login components go by the names of the events.
import type { Readable } from 'node:stream'
import type { ManagedAuthEvent } from '@berth/contracts/auth-connections'
import { FollowedEvents } from '../../http/followed-events.ts'
import type { Db } from '../../platform/database/schema.ts'
import { findWithFlow } from './flow-store.ts'
import type { FlowPlace, LinkMaker } from './links.ts'
import { isOver } from './transitions.ts'
import { toStateEvent } from './view.ts'

export class FlowEvents {
  readonly #db: Db
  readonly #links: LinkMaker
  readonly #followed = new FollowedEvents({ isNamed: true })

  constructor({ db, links }: { db: Db; links: LinkMaker }) {
    this.#db = db
    this.#links = links
  }

  changed(connectionId: string): void {
    this.#followed.changed(connectionId)
  }

  /** Follows the token's flow, or the latest one. */
  follow(connectionId: string, place: FlowPlace): Readable {
    const sent = { flow: '' }
    return this.#followed.follow(connectionId, () => this.#look(connectionId, place, sent))
  }

  async *#look(
    connectionId: string,
    place: FlowPlace,
    sent: { flow: string },
  ): AsyncGenerator<ManagedAuthEvent, 'wait' | 'end'> {
    const found = await findWithFlow(this.#db, null, connectionId)
    if (!found) return 'end'
    const { connection, flow } = found
    const now = flow ? `${flow.id} ${flow.version}` : ''
    if (flow && now !== sent.flow) {
      sent.flow = now
      const links = this.#links.of(flow, place)
      yield toStateEvent(flow, { postLoginUrl: connection.post_login_url, links })
    }
    return (flow && isOver(flow)) || connection.deleted_at !== null ? 'end' : 'wait'
  }
}
