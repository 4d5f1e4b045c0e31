// Takes everything out of a page snapshot that the reader of a report must not learn, and leaves what the rules look at.
// The values of this login are taken out wherever they are. Nobody knows which other text of a page is somebody's, so
// what looks like an address, a number or a token becomes another one of the same shape.
import type { ElementSnapshot, FrameSnapshot, PageSnapshot } from '@berth/contracts/page-snapshot'
import { mask } from '../rules/mask.ts'
import { readPage } from '../rules/read-page.ts'
import type { Reading } from '../rules/reading.ts'

/** Longer ones are cut: a report is read by people. */
const MAX_ELEMENTS = 200
const MAX_TEXT_LENGTH = 6_000
const MAX_HIDDEN = 40

/** Bounded, so that a page cannot make them slow. */
const EMAIL = /[\p{L}\p{N}._%+*•-]{1,64}@[\p{L}\p{N}.-]{1,253}\.\p{L}{2,}/gu
/** A year and a short number stay: rules look at the number of digits, and at "6-digit". */
const NUMBER = /\d(?:[\d\s().-]{2,}\d)/g
const LONG_WORD = /[\w-]{16,}/g
const LONG_SEGMENT = /^(?=.*\d)[\w.~%-]{12,}$|^[\w.~%-]{28,}$/
/** Parameters that say what a page is, not who somebody is. */
const PLAIN_PARAMETER =
  /^(provider|idp|strategy|connection|method|type|view|mode|action|page|route|lang|locale|hl|flow|step|size|render|k|sitekey)$/i

export function maskSnapshot(
  snapshot: PageSnapshot,
  secrets: readonly string[],
  reading?: Reading,
): PageSnapshot {
  const { isSignedIn } = (reading ?? readPage(snapshot)).signs
  // Names and classes repeat.
  const masked = new Map<string, string>()
  const text = (value: string) => {
    const known = masked.get(value) ?? maskText(value, secrets)
    masked.set(value, known)
    return known
  }
  const address = (value: string) => maskAddress(value, secrets)
  return {
    ...snapshot,
    url: address(snapshot.url),
    failure: snapshot.failure,
    headers: Object.fromEntries(Object.entries(snapshot.headers).map(([name, value]) => [name, text(value)])),
    frames: snapshot.frames.map((frame) => maskFrame(frame, { isSignedIn, text, address })),
    elements: fewer(snapshot.elements).map((element) => maskElement(element, { isSignedIn, text, address })),
    http_auth: snapshot.http_auth && {
      ...snapshot.http_auth,
      origin: address(snapshot.http_auth.origin),
      realm: text(snapshot.http_auth.realm),
    },
    dialogs: snapshot.dialogs.map((each) => text(each)),
  }
}

export function maskText(value: string, secrets: readonly string[]): string {
  if (value === '') return value
  return mask(value, secrets)
    .replaceAll(EMAIL, 'somebody@mail.example')
    .replaceAll(LONG_WORD, (word) => (isToken(word) ? 'x'.repeat(Math.min(word.length, 24)) : word))
    .replaceAll(NUMBER, (number) => number.replaceAll(/\d/g, '0'))
}

function isToken(word: string): boolean {
  return (/\d/.test(word) && /[A-Za-z]/.test(word)) || /^[A-Za-z]{40,}$/.test(word)
}

export function maskAddress(value: string, secrets: readonly string[]): string {
  const url = URL.parse(value)
  if (!url || !/^https?:$/.test(url.protocol)) return /^[a-z]+:/.exec(value)?.[0] ?? maskText(value, secrets)
  const path = (text: string) =>
    text
      .split('/')
      .map((segment) => (LONG_SEGMENT.test(segment) ? 'x' : maskText(decoded(segment), secrets)))
      .join('/')
  const query = [...url.searchParams].map(([name, given]) =>
    PLAIN_PARAMETER.test(name) ? `${name}=${maskText(given, secrets).slice(0, 60)}` : `${name}=x`,
  )
  const fragment = /^#!?\//.test(url.hash) ? path(url.hash.replace(/\?.*$/, '')) : ''
  return `${url.origin}${path(url.pathname)}${query.length > 0 ? `?${query.join('&')}` : ''}${fragment}`
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

interface Masks {
  /** Behind the login, a page shows what is its owner's: only the shape of the page stays. */
  readonly isSignedIn: boolean
  readonly text: (value: string) => string
  readonly address: (value: string) => string
}

function maskFrame(frame: FrameSnapshot, { isSignedIn, text, address }: Masks): FrameSnapshot {
  return {
    ...frame,
    url: address(frame.url),
    title: isSignedIn ? '' : text(frame.title),
    headings: isSignedIn ? [] : frame.headings.map((each) => text(each)),
    text: isSignedIn ? '' : text(frame.text.slice(0, MAX_TEXT_LENGTH)),
    groups: frame.groups.map((group) => ({
      ...group,
      action: group.action && address(group.action),
      attributes: text(group.attributes),
      heading: isSignedIn ? '' : text(group.heading),
      text: isSignedIn ? '' : text(group.text),
    })),
    messages: isSignedIn ? [] : frame.messages.map((message) => ({ ...message, text: text(message.text) })),
    challenges: frame.challenges.map((trace) => maskTrace(trace, address)),
  }
}

/** `frame:` or `script:` with an address, and for frames more words. */
function maskTrace(trace: string, address: (value: string) => string): string {
  const [, kind, place = '', rest = ''] = /^(frame|script):(\S+)(.*)$/s.exec(trace) ?? []
  return kind === undefined ? trace : `${kind}:${address(place)}${rest}`
}

/** What tells that somebody is signed in. */
const TELLING = /log ?out|sign ?out|log ?off|abmeld|déconn|cerrar|esci|uitlog|logga ut|wylog|выйти|account/i

function maskElement(element: ElementSnapshot, { isSignedIn, text, address }: Masks): ElementSnapshot {
  const words = (value: string) =>
    isSignedIn && !TELLING.test(value) ? value.replaceAll(/[\p{L}\p{N}]/gu, 'x') : text(value)
  return {
    ...element,
    name: text(element.name),
    id: text(element.id),
    placeholder: words(element.placeholder),
    title: words(element.title),
    class_name: text(element.class_name),
    data: text(element.data),
    label: words(element.label),
    text: words(element.text),
    near: words(element.near),
    description: words(element.description),
    icon: words(element.icon),
    href: element.href && address(element.href),
    options: element.options
      .slice(0, 20)
      .map(({ value, label }) => ({ value: text(value), label: words(label) })),
    // They repeat ids and names, and no rule reads them.
    selector: '',
    xpath: '',
  }
}

function fewer(elements: readonly ElementSnapshot[]): ElementSnapshot[] {
  let hidden = 0
  return elements
    .filter(({ is_visible: isVisible }) => isVisible || hidden++ < MAX_HIDDEN)
    .slice(0, MAX_ELEMENTS)
}
