// What stops a login, now or for good. Each obstacle has its own code because each has its own remedy.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { passkeyWords } from '../words/actions.ts'
import { fold } from '../words/match.ts'
import { botWallWords, maintenanceWords } from '../words/messages.ts'
import { isAboutAccount, isNotice } from './plain-page.ts'
import type { Complaint, Obstacle, ReadChoice, ReadForm, Scene } from './reading.ts'

const MAX_NOTICE_LENGTH = 2_500

interface Findings {
  readonly scenes: readonly Scene[]
  readonly form: ReadForm | undefined
  readonly choices: readonly ReadChoice[]
  readonly complaints: readonly Complaint[]
  readonly isSignedIn: boolean
  readonly hasCaptcha: boolean
}

export function obstacleOf(snapshot: PageSnapshot, findings: Findings): Obstacle | undefined {
  return (
    serverTrouble(snapshot, findings) ??
    wall(snapshot, findings) ??
    refusal(snapshot, findings) ??
    captcha(findings) ??
    passkeyOnly(snapshot, findings)
  )
}

function obstacle(code: Obstacle['code'], message: string, text?: string): Obstacle {
  return { code, message, text }
}

function serverTrouble(snapshot: PageSnapshot, { scenes, form, isSignedIn }: Findings): Obstacle | undefined {
  const { status } = snapshot
  const shown = textOf(snapshot)
  const notice = noticeOf(snapshot, (line) => maintenanceWords.in(line))
  if (status === 429)
    return obstacle(
      'rate_limited',
      'The website rejects further requests for now (HTTP 429)',
      firstLine(shown),
    )
  if (status !== null && status >= 500) {
    if (isChallenged(snapshot))
      return obstacle(
        'bot_detected',
        `The website checks whether this is a bot (HTTP ${status})`,
        firstLine(shown),
      )
    return obstacle('website_error', `The website responded with HTTP ${status}`, notice ?? firstLine(shown))
  }
  const isHeading = maintenanceWords.in(
    fold(`${snapshot.frames[0]?.title ?? ''} . ${snapshot.frames[0]?.headings.join(' . ') ?? ''}`),
  )
  if (!form && !isSignedIn && isHeading && notice !== undefined && isNotice(snapshot, scenes))
    return obstacle('website_error', 'The website is currently unavailable', notice)
  return undefined
}

function wall(snapshot: PageSnapshot, { scenes, form, isSignedIn }: Findings): Obstacle | undefined {
  const shown = textOf(snapshot)
  const isWall = botWallWords.in(
    fold(`${snapshot.frames[0]?.title ?? ''} . ${shown.slice(0, MAX_NOTICE_LENGTH)}`),
  )
  if (isSignedIn || form) return undefined
  if (
    snapshot.headers['cf-mitigated'] === 'challenge' ||
    (isChallenged(snapshot) && shown.length < MAX_NOTICE_LENGTH)
  ) {
    return obstacle('bot_detected', 'The website checks whether this is a bot', firstLine(shown))
  }
  const isRefused = snapshot.status === 403 || snapshot.status === 503 || snapshot.status === 401
  if (isWall && shown.length < MAX_NOTICE_LENGTH && (isRefused || isShortWall(snapshot, scenes))) {
    return obstacle('bot_detected', 'The website considers this browser a bot', firstLine(shown))
  }
  return undefined
}

const MAX_WALL_LENGTH = 800
const isShortWall = (snapshot: PageSnapshot, scenes: readonly Scene[]) =>
  textOf(snapshot).length < MAX_WALL_LENGTH && isNotice(snapshot, scenes)

/**
 * Messages about a locked account or too many attempts. At a form, only a response to what was submitted counts: help texts
 * explain locks and limits to everybody. Without a form, only a page that is a notice and little else counts.
 */
function refusal(
  snapshot: PageSnapshot,
  { scenes, form, choices, complaints, isSignedIn }: Findings,
): Obstacle | undefined {
  const isPlain = isNotice(snapshot, scenes)
  if (isSignedIn || (!form && (choices.length > 0 || !isPlain))) return undefined
  // The fields of an application look like the first step of a login.
  const isLogin = form !== undefined && (isPlain || (form.kind !== 'identifier' && form.kind !== 'question'))
  const refusals = complaints.filter(
    ({ kind, text, isNew, isAtForm }) =>
      (kind === 'locked' || kind === 'too many') &&
      (!form || (isNew && (isAtForm || (isLogin && isAboutAccount(text))))),
  )
  const told = refusals.find(({ kind }) => kind === 'locked') ?? refusals[0]
  if (!told) return undefined
  const isUncertain = !form && !isAboutAccount(told.text)
  return told.kind === 'locked'
    ? { ...obstacle('account_locked', 'The website says that the account is locked', told.text), isUncertain }
    : { ...obstacle('rate_limited', 'The website rejects further attempts for now', told.text), isUncertain }
}

/** Beside a form or a choice, the login goes on, and the person solves the captcha in place. */
function captcha({ hasCaptcha, form, choices }: Findings): Obstacle | undefined {
  if (!hasCaptcha || form || choices.length > 0) return undefined
  return obstacle('captcha_blocked', 'The website asks to solve a captcha')
}

function passkeyOnly(
  snapshot: PageSnapshot,
  { scenes, form, choices, isSignedIn }: Findings,
): Obstacle | undefined {
  if (form || choices.length > 0 || isSignedIn) return undefined
  const scene = scenes[0]
  if (!scene || !isNotice(snapshot, scenes)) return undefined
  const text = scene.frame.text.split('\n').find((line) => passkeyWords.in(fold(line)))
  return text === undefined
    ? undefined
    : obstacle(
        'unsupported_auth_method',
        'The website only accepts a passkey or security key, and the credential has none that can answer. To add one, sign in there in another way, or import a session of your own browser; then start a login with create_passkey',
        text.slice(0, 300),
      )
}

function isChallenged({ frames, headers }: PageSnapshot): boolean {
  if (headers['cf-mitigated'] === 'challenge') return true
  return frames.some(({ challenges }) =>
    challenges.some((trace) =>
      /cf[-_]chl|challenge-(form|stage|running|error|platform)|challenges\.cloudflare|datadome|perimeterx|px-cloud|px-captcha|incapsula|imperva|kasada|awswaf|aws-waf/i.test(
        trace,
      ),
    ),
  )
}

function textOf({ frames }: PageSnapshot): string {
  return frames.map(({ text }) => text).join('\n')
}

function firstLine(text: string): string | undefined {
  return text
    .split('\n')
    .find((line) => line.trim().length > 3)
    ?.slice(0, 300)
}

function noticeOf(snapshot: PageSnapshot, isOne: (line: string) => boolean): string | undefined {
  return textOf(snapshot)
    .split('\n')
    .find((line) => line.length < 400 && isOne(fold(line)))
    ?.slice(0, 300)
}
