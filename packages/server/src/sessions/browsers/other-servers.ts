// Access to sessions on other servers.
import type { EndReason } from '@berth/contracts/browsers'
import type { Session } from '../session/session.ts'

export interface OtherServers {
  /** Undefined when no reachable server has the session, or when its lease number differs. */
  find(id: string, wantedNumber?: number): Promise<Session | undefined>
  /** Whether a client of this server uses the session. */
  isWatching(id: string): boolean
  /** Tells the session's clients on this server that it has ended. */
  ended(id: string, reason: EndReason): void
  /** Disconnects clients of earlier leases, because the session has a new lease holder. */
  passed(id: string, leaseNumber: number): void
}
