// Summarises how an address looks, enough to tell signed-in from signed-out users.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { holdsAny } from '../rules/mask.ts'
import type { Checks, Signs } from '../run/memory.ts'
import { caption, isClickable, isTextField } from '../rules/element-words.ts'
import { readPage } from '../rules/read-page.ts'
import type { Obstacle } from '../rules/reading.ts'
import { accountWords, agreeWords, logOutWords, nextWords, signInWords } from '../words/actions.ts'
import { fold } from '../words/match.ts'

const MAX_MARKERS = 5
const MAX_MARKER_LENGTH = 40
const MAX_HEADING_LENGTH = 60
const MANY = 10

export interface PageSummary {
  readonly requested: string
  /** Final address, without the parts that change between visits. */
  readonly url: string
  readonly status: number | null
  readonly features: ReadonlySet<string>
  readonly isSignedIn: boolean
  /** A login form, a request for HTTP authentication, or a 401 or 403 response. */
  readonly isLogin: boolean
  /** Has a log-in link and no log-out link. */
  readonly isSignedOut: boolean
  readonly obstacle: Obstacle | undefined
  /** A notice that may be about the login or about anything else. */
  readonly isDoubtful: boolean
  readonly isLoaded: boolean
  readonly cells: number
  /** Asks for something before the login is complete. */
  readonly asksFurther: boolean
}

export function summarize(
  requested: string,
  snapshot: PageSnapshot,
  secrets: readonly string[],
): PageSummary {
  const reading = readPage(snapshot)
  const isRefused = snapshot.status === 401 || snapshot.status === 403
  return {
    requested: plain(requested),
    url: plain(snapshot.url),
    status: snapshot.status,
    features: featuresOf(snapshot, secrets),
    isSignedIn: reading.signs.isSignedIn,
    isLogin: reading.form !== undefined || snapshot.http_auth !== null || isRefused,
    isSignedOut: reading.signs.isSignedOut || isRefused,
    obstacle: reading.obstacle?.isUncertain === true ? undefined : reading.obstacle,
    isDoubtful: reading.obstacle?.isUncertain === true,
    isLoaded:
      snapshot.failure === null &&
      (snapshot.status === null || snapshot.status < 500) &&
      snapshot.frames.length > 0,
    asksFurther: asksFurther(snapshot),
    cells: snapshot.storage.cookies + snapshot.storage.local + snapshot.storage.indexed,
  }
}

function asksFurther({ elements }: PageSnapshot): boolean {
  const shown = elements.filter(
    (element) => element.is_visible && !/^(header|nav|search|footer)$/.test(element.region),
  )
  const controls = elements.filter((element) => element.is_visible && isClickable(element))
  const says = controls.map((element) => fold(caption(element)))
  // A page with many controls, or with account controls, is behind the login.
  if (says.length >= MANY || says.some((text) => text.length < MAX_MARKER_LENGTH && accountWords.in(text)))
    return false
  if (
    shown.some((element) => isTextField(element) || element.type === 'checkbox' || element.type === 'radio')
  )
    return true
  return controls.some(
    (element, index) => element.tag !== 'a' && (agreeWords.in(says[index]!) || nextWords.in(says[index]!)),
  )
}

/** Without the query. Keeps the part after `#` only if it is the path of a single-page application. */
export function plain(address: string): string {
  const url = URL.parse(address)
  if (!url) return ''
  return `${url.origin}${url.pathname}${/^#!?\//.test(url.hash) ? url.hash.replace(/\?.*$/, '') : ''}`
}

function featuresOf(snapshot: PageSnapshot, secrets: readonly string[]): Set<string> {
  const found = new Set<string>()
  const add = (kind: string, text: string, maxLength: number) => {
    const folded = fold(text)
    // Numbers and personal names change.
    if (folded.length < 2 || folded.length > maxLength || /\d|@/.test(folded) || holdsAny(text, secrets))
      return
    found.add(`${kind}:${folded}`)
  }
  for (const element of snapshot.elements) {
    if (!element.is_visible) continue
    if (element.type === 'password') found.add('field:password')
    else if (isClickable(element)) add('control', caption(element), MAX_MARKER_LENGTH)
    else if (element.tag === 'input')
      add('field', element.label || element.placeholder || element.name, MAX_MARKER_LENGTH)
  }
  for (const { headings, title } of snapshot.frames.slice(0, 1)) {
    for (const heading of headings) add('heading', heading, MAX_HEADING_LENGTH)
    add('title', title, MAX_HEADING_LENGTH)
  }
  if (snapshot.http_auth) found.add('http authentication')
  return found
}

export function checksFrom(url: string, inside: PageSummary, outside: PageSummary): Checks {
  return { version: 1, url, signedIn: signsOf(inside, outside), signedOut: signsOf(outside, inside) }
}

function signsOf(own: PageSummary, other: PageSummary): Signs {
  const markers = [...own.features]
    .filter((feature) => !other.features.has(feature))
    .toSorted((one, another) => telling(another) - telling(one))
    .slice(0, MAX_MARKERS)
  return { url: own.url, status: own.status, markers }
}

function telling(feature: string): number {
  if (logOutWords.in(feature)) return 5
  if (feature === 'field:password' || feature === 'http authentication') return 4
  if (signInWords.in(feature)) return 3
  if (feature.startsWith('control:')) return 2
  return feature.startsWith('heading:') ? 1 : 0
}
