// The other servers of the fleet, as far as their sessions are used here.
import type { EndReason } from '@berth/contracts/browsers'
import type { OtherServers } from '../browsers/other-servers.ts'
import type { Session } from '../session/session.ts'
import { findOwner } from '../browsers/store.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { SessionTokens } from '../gateway/tokens.ts'
import type { OwnEvent } from '../session/own-event.ts'
import { RemoteSession } from './remote-session.ts'
import { openTunnel, TUNNEL_AUDIENCE } from './tunnel.ts'

/** Time to open a tunnel with it, and for clocks that differ. */
const TOKEN_SECONDS = 60

export interface PeersOptions {
  readonly db: Db
  readonly tokens: Pick<SessionTokens, 'sign'>
  readonly certificate: Buffer | undefined
  /** Told of what happened here to a session that is elsewhere. */
  readonly onEvent: (sessionId: string, event: OwnEvent) => void
}

export class Peers implements OtherServers {
  readonly #options: PeersOptions
  readonly #watched = new Map<string, Set<{ readonly session: RemoteSession }>>()

  constructor(options: PeersOptions) {
    this.#options = options
  }

  /**
   * A session that is not on this server; undefined when it is on none that can be reached, or in other hands than
   * those asked for.
   */
  async find(id: string, wanted?: number): Promise<Session | undefined> {
    const { db, tokens, certificate, onEvent } = this.#options
    const owner = await findOwner(db, id)
    if (!owner) return undefined
    const { address, telemetry, lease_number: leaseNumber } = owner
    if (wanted !== undefined && wanted !== leaseNumber) return undefined
    return new RemoteSession({
      id,
      leaseNumber,
      dial: (purpose, signal) => {
        const claims = { sessionId: id, audience: [TUNNEL_AUDIENCE], lifeSeconds: TOKEN_SECONDS, leaseNumber }
        return openTunnel({ address, purpose, token: tokens.sign(claims), certificate, signal })
      },
      watch: (session) => this.#watch(session),
      telemetry: telemetry ?? [],
      onEvent: (event) => onEvent(id, event),
    })
  }

  isWatching(id: string): boolean {
    return this.#watched.has(id)
  }

  ended(id: string, reason: EndReason): void {
    for (const { session } of this.#watched.get(id) ?? []) session.end(reason)
  }

  /** Another lease began, or it waits in its pool again: the lease holder before is sent away. */
  passed(id: string, leaseNumber: number): void {
    for (const { session } of this.#watched.get(id) ?? []) {
      if (session.leaseNumber !== leaseNumber) session.end('released')
    }
  }

  #watch(session: RemoteSession): Disposable {
    // One entry per hold, as a session may be held twice.
    const entry = { session }
    const entries = this.#watched.get(session.id) ?? new Set()
    this.#watched.set(session.id, entries.add(entry))
    return {
      [Symbol.dispose]: () => {
        entries.delete(entry)
        if (entries.size === 0) this.#watched.delete(session.id)
      },
    }
  }
}
