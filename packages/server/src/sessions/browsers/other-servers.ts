// What sessions of this server need to know of those on other servers.
import type { EndReason } from '@berth/contracts/browsers'
import type { Session } from '../session/session.ts'

export interface OtherServers {
  /** Undefined when no server that can be reached has it, or when its lease number is not the wanted one. */
  find(id: string, wantedNumber?: number): Promise<Session | undefined>
  /** Whether anybody here uses the session. */
  isWatching(id: string): boolean
  /** Tells everybody here who uses the session that it has ended. */
  ended(id: string, reason: EndReason): void
  /** The session has another lease holder: sends away those of the lease before. */
  passed(id: string, leaseNumber: number): void
}
