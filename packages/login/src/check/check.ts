// Checks whether the user is still signed in: opens the address that showed the difference at the last login.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { stepOfCheck } from '../explain/explanation.ts'
import { allowedHosts, isOf } from '../hosts/hosts.ts'
import type { PageActions } from '../run/page-actions.ts'
import type { Checks } from '../run/memory.ts'
import type { CheckOutcome } from '../run/run.ts'
import type { ExplainedStep } from '../run/step.ts'
import { logOutWords } from '../words/actions.ts'
import { summarize, type PageSummary } from './page-summary.ts'

const QUIET_MS = 500
/** Before a login, where a wrong answer costs one page. A health check that is wrong causes a login. */
const EARLY_QUIET_MS = 150
const MAX_MS = 20_000
/** A single-page application may load its content late. */
const MAX_LOOKS = 3

export interface CheckOptions {
  readonly pageActions: PageActions
  readonly checks: Checks
  readonly domain: string
  readonly allowedDomains: readonly string[]
  readonly loginUrl?: string | undefined
  readonly isEarly?: boolean
  readonly onStep?: ((step: ExplainedStep) => void) | undefined
  readonly signal: AbortSignal
}

export async function checkSession(options: CheckOptions): Promise<CheckOutcome> {
  const at = new Date()
  const { outcome, snapshot } = await examine(options)
  options.onStep?.(stepOfCheck(snapshot, { at, url: options.checks.url, outcome }))
  return outcome
}

/** Also returns the page that decided the outcome. */
export async function examine({
  pageActions,
  checks,
  domain,
  allowedDomains,
  isEarly = false,
  signal,
}: CheckOptions): Promise<{ outcome: CheckOutcome; snapshot: PageSnapshot }> {
  // Chromium does not reload a page when only the part after `#` changes.
  if (checks.url.includes('#')) {
    await pageActions.visit({ url: 'about:blank', aside: false, quiet_ms: 0, most_ms: MAX_MS }, signal)
  }
  const quiet_ms = isEarly ? EARLY_QUIET_MS : QUIET_MS
  let snapshot = await pageActions.visit({ url: checks.url, aside: false, quiet_ms, most_ms: MAX_MS }, signal)
  const hosts = allowedHosts(domain, allowedDomains)
  let outcome = voteOn(summarize(checks.url, snapshot, []), checks, hosts)
  for (
    let looks = 1;
    looks < MAX_LOOKS && outcome.result === 'inconclusive' && snapshot.failure === null;
    looks++
  ) {
    snapshot = await pageActions.look({ quiet_ms: QUIET_MS, most_ms: 3_000, until_changed: true }, signal)
    outcome = voteOn(summarize(checks.url, snapshot, []), checks, hosts)
  }
  return { outcome, snapshot }
}

/** Contradicting signs are inconclusive. A wrong `out` causes a new login and may lock the account. */
export function voteOn(
  now: PageSummary,
  { signedIn, signedOut }: Checks,
  hosts: readonly string[],
): CheckOutcome {
  const say = (result: CheckOutcome['result'], reason: string): CheckOutcome => ({
    result,
    reason,
    url: now.url,
  })
  if (!now.isLoaded)
    return say(
      'inconclusive',
      now.status === null ? 'The page did not load' : `The website responded with HTTP ${now.status}`,
    )
  if (!isOf(now.url, hosts)) return say('inconclusive', 'The website redirected to another domain')

  const share = (markers: readonly string[]) =>
    markers.length === 0 ? 0 : markers.filter((marker) => now.features.has(marker)).length / markers.length
  const inside = share(signedIn.markers)
  const outside = share(signedOut.markers)
  const { obstacle, status } = now
  // Only signed-out users see the captcha of a login page.
  const isLoginPage = now.isLogin && outside >= 0.5
  if (
    obstacle &&
    obstacle.code !== 'unsupported_auth_method' &&
    !(obstacle.code === 'captcha_blocked' && isLoginPage)
  )
    return say('inconclusive', obstacle.message)
  if (status === 401 && signedIn.status !== 401) return say('out', 'The website asks for a login (HTTP 401)')
  if (status === 403 && signedOut.status === 403)
    return say('out', 'The website denies access to the page (HTTP 403)')
  if (status !== null && status >= 400 && status !== signedIn.status && status !== signedOut.status)
    return say('inconclusive', `The website responded with HTTP ${status}`)

  // The address only counts if the page also shows something of what it showed before.
  const byAddress = (url: string, markers: readonly string[], part: number) => {
    const isTelling =
      signedIn.url !== signedOut.url && now.features.size > 0 && (part > 0 || markers.length === 0)
    return isTelling && now.url === url ? 0.5 : 0
  }
  // Without the log-out link, other similarities say little, and a log-in link means signed out.
  const logOutMarkers = signedIn.markers.filter((marker) => logOutWords.in(marker))
  const isLogOutGone =
    logOutMarkers.length > 0 && !now.isSignedIn && !logOutMarkers.some((marker) => now.features.has(marker))
  const seemsIn = inside + byAddress(signedIn.url, signedIn.markers, inside)
  const forIn = now.isSignedIn ? 1 + seemsIn : isLogOutGone ? Math.min(seemsIn, 0.4) : seemsIn
  const forOut =
    outside +
    (now.isLogin || (isLogOutGone && now.isSignedOut) ? 1 : 0) +
    byAddress(signedOut.url, signedOut.markers, outside)
  if (forIn >= 0.5 && forIn >= 2 * forOut) return say('in', 'The page looks as it does for a signed-in user')
  if (forOut >= 0.5 && forOut >= 2 * forIn)
    return say(
      'out',
      now.isLogin ? 'The page asks for a login' : 'The page looks as it does for a signed-out user',
    )
  const isOther = forIn === 0 && forOut === 0
  return say(
    'inconclusive',
    isOther
      ? 'The page looks unlike both the signed-in and the signed-out page'
      : 'The page shows signs of both states',
  )
}
