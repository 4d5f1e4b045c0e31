import * as contract from '@berth/contracts/live-view'
import type { Session } from '../session/session.ts'
import type { SessionTokens } from '../gateway/tokens.ts'
import { route, type Call, type Route } from '../../http/call.ts'
import { newLink } from './links.ts'

export interface LiveRoutesOptions {
  readonly tokens: Pick<SessionTokens, 'sign'>
  /** Throws `not_found` for a session that the caller may not see or that has ended. */
  readonly find: (call: Call<unknown>, id: string) => Promise<Session>
}

export function liveRoutes({ tokens, find }: LiveRoutesOptions): Route[] {
  return [
    route(contract.createLiveViewLink, async (call) => {
      const { mode = 'read_only', expires_in_seconds: lifeSeconds = 3600 } = call.body
      const { id: sessionId, leaseNumber } = await find(call, call.params.id)
      return call.commit(async () =>
        newLink(tokens, { sessionId, leaseNumber, origin: call.origin, mode, lifeSeconds }),
      )
    }),
  ]
}
