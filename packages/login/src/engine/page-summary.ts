// How an address looks to somebody: enough to tell those who are in from those who are out.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { holdsAny } from '../mask.ts'
import type { Checks, Signs } from '../memory.ts'
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
  /** Where it led to, without what changes from visit to visit. */
  readonly url: string
  readonly status: number | null
  readonly features: ReadonlySet<string>
  readonly isSignedIn: boolean
  /** A login form, a demand of HTTP authentication, or an answer that one may not. */
  readonly isLogin: boolean
  /** A link to the login, with none to get out. */
  readonly isSignedOut: boolean
  readonly obstacle: Obstacle | undefined
  readonly isLoaded: boolean
  readonly cells: number
  /** It wants something before it goes on, as pages do on the way in. */
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
    obstacle: reading.obstacle,
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
  // As much to do as this, and what is for those who are in, is behind a login.
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

/** Without query; of what is behind `#` only what single-page applications use as a path. */
export function plain(address: string): string {
  const url = URL.parse(address)
  if (!url) return ''
  return `${url.origin}${url.pathname}${/^#!?\//.test(url.hash) ? url.hash.replace(/\?.*$/, '') : ''}`
}

function featuresOf(snapshot: PageSnapshot, secrets: readonly string[]): Set<string> {
  const found = new Set<string>()
  const add = (kind: string, text: string, longest: number) => {
    const folded = fold(text)
    // Numbers and names of people are other ones tomorrow.
    if (folded.length < 2 || folded.length > longest || /\d|@/.test(folded) || holdsAny(text, secrets)) return
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
