// Addresses of the live view. The one of a headful session is good for as long as the session; those that are
// asked for last as long as asked, and one that is for watching only is so by its token.
import type { LiveViewLink, LiveViewMode } from '@berth/contracts/live-view'
import { LIVE_PATH, liveAudiences } from '../session/target.ts'
import type { SessionTokens } from '../gateway/tokens.ts'

export function newLink(
  tokens: Pick<SessionTokens, 'sign'>,
  {
    sessionId,
    leaseNumber,
    origin,
    mode,
    lifeSeconds,
  }: {
    readonly sessionId: string
    readonly leaseNumber: number
    readonly origin: string
    readonly mode: LiveViewMode
    readonly lifeSeconds: number
  },
): LiveViewLink {
  const audience = [mode === 'control' ? liveAudiences.control : liveAudiences.readOnly]
  // As the token has it: in whole seconds.
  const expiresAt = (Math.floor(Date.now() / 1000) + lifeSeconds) * 1000
  return {
    url: `${origin}${LIVE_PATH}?jwt=${tokens.sign({ sessionId, leaseNumber, audience, lifeSeconds })}`,
    expires_at: new Date(expiresAt).toISOString(),
    mode,
  }
}
