// Sessions of other servers that are used on this one.
import type { EndReason } from '@berth/contracts/browsers'
import type { OtherServers } from '../browsers/other-servers.ts'
import type { Session } from '../session/session.ts'
import { findOwner } from '../browsers/store.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { SessionTokens } from '../gateway/tokens.ts'
import type { OwnEvent } from '../session/own-event.ts'
import { RemoteSession } from './remote-session.ts'
import { openTunnel, TUNNEL_AUDIENCE } from './tunnel.ts'

/** Enough to open a tunnel, plus a margin for clock differences. */
const TOKEN_SECONDS = 60

export interface PeersOptions {
  readonly db: Db
  readonly tokens: Pick<SessionTokens, 'sign'>
  readonly certificate: Buffer | undefined
  /** Called for events on this server that belong to a session elsewhere. */
  readonly onEvent: (sessionId: string, event: OwnEvent) => void
}

export class Peers implements OtherServers {
  readonly #options: PeersOptions
  readonly #watched = new Map<string, Set<{ readonly session: RemoteSession }>>()

  constructor(options: PeersOptions) {
    this.#options = options
  }

  /**
   * Finds a session on another server; undefined when no reachable server has it, or when its lease number differs
   * from the wanted one.
   */
  async find(id: string, wanted?: number): Promise<Session | undefined> {
    const { db, tokens, certificate, onEvent } = this.#options
    const owner = await findOwner(db, id)
    if (!owner) return undefined
    const { address, telemetry, project_id: projectId, lease_number: leaseNumber } = owner
    if (wanted !== undefined && wanted !== leaseNumber) return undefined
    return new RemoteSession({
      id,
      projectId,
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

  /** Disconnects the previous lease holder after a new lease or a return to the pool. */
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
