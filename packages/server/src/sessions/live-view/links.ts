// Links to the live view. The link of a headful session is valid as long as the session. Requested links are valid for
// the requested time, and the token of a read-only link allows only watching. The link of a login is for its page alone.
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
    isForLogin = false,
  }: {
    readonly sessionId: string
    readonly leaseNumber: number
    readonly origin: string
    readonly mode: LiveViewMode
    readonly lifeSeconds: number
    readonly isForLogin?: boolean
  },
): LiveViewLink {
  const control = isForLogin ? liveAudiences.login : liveAudiences.control
  const audience = [mode === 'control' ? control : liveAudiences.readOnly]
  // Whole seconds, like the token.
  const expiresAt = (Math.floor(Date.now() / 1000) + lifeSeconds) * 1000
  return {
    url: `${origin}${LIVE_PATH}?jwt=${tokens.sign({ sessionId, leaseNumber, audience, lifeSeconds })}`,
    expires_at: new Date(expiresAt).toISOString(),
    mode,
  }
}
