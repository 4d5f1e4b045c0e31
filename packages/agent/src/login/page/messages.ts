// Finds highlighted texts, and signs of captchas and bot walls.
import type { MessageSnapshot } from '@berth/contracts/page-snapshot'
import { fileName, textIn } from './names.ts'
import { attribute, attributeOf, isDrawn, type DrawnTree } from './nodes.ts'

type Kind = MessageSnapshot['kind']

const WORDS =
  'errors?|err|alerts?|invalid|danger|warn(?:ing)?|messages?|msg|notices?|notification|flash|toast|snackbar|feedback|fail(?:ed|ure)?|validation|callout|banner|fehler|erreur'
const SAID_BY_CLASS = new RegExp(`(?:^|[\\s_-])(?:${WORDS})(?:[\\s_-]|$)|error|alert`, 'i')

export function messageKind(element: Element, style: CSSStyleDeclaration): Kind | undefined {
  const role = attribute(element, 'role').toLowerCase()
  if (role === 'alertdialog') return 'dialog'
  if (role === 'alert' || role === 'status') return 'alert'
  if (/^(assertive|polite)$/.test(attribute(element, 'aria-live'))) return 'alert'
  if (SAID_BY_CLASS.test(`${attribute(element, 'class')} ${attribute(element, 'id')}`)) return 'class'
  return isRed(style) ? 'red' : undefined
}

function isRed({ color }: CSSStyleDeclaration): boolean {
  const parts = /^rgba?\((\d+), (\d+), (\d+)/.exec(color)
  if (!parts) return false
  const [red = 0, green = 0, blue = 0] = parts.slice(1).map(Number)
  return red >= 140 && red - Math.max(green, blue) >= 80
}

const order: Readonly<Record<Kind, number>> = { field: 0, dialog: 1, alert: 2, class: 3, red: 4 }

export interface Candidate {
  readonly element: Element
  readonly kind: Kind
  readonly group: number | null
}

/** Each text once, with the strongest reason. Skips texts that contain another message. */
export function messagesOf(
  tree: DrawnTree,
  candidates: readonly Candidate[],
  { fields, maxCount, maxLength }: { fields: readonly Element[]; maxCount: number; maxLength: number },
): MessageSnapshot[] {
  const aroundFields = new Set<Element>()
  for (const field of fields.slice(0, 200)) for (const each of tree.ancestorsOf(field)) aroundFields.add(each)
  const told = new Map<string, MessageSnapshot>()
  const tellers = new Set<Element>()
  const aroundTellers = new Set<Element>()
  for (const { element, kind, group } of candidates.toSorted(
    (one, other) => order[one.kind] - order[other.kind],
  )) {
    if (told.size >= maxCount) break
    if (aroundFields.has(element) || aroundTellers.has(element) || !isDrawn(element)) continue
    const ancestors = [...tree.ancestorsOf(element)]
    if (tellers.has(element) || ancestors.some((each) => tellers.has(each))) continue
    const text = textIn(tree, element, maxLength + 1)
    if (text.length < 3 || text.length > maxLength || told.has(text)) continue
    told.set(text, { text, kind, group })
    tellers.add(element)
    for (const each of ancestors) aroundTellers.add(each)
  }
  return [...told.values()]
}

const CHALLENGE =
  /captcha|turnstile|cf-chl|cf_chl|challenge-(form|stage|running|platform|error)|challenges\.cloudflare|arkoselabs|funcaptcha|geetest|datadome|perimeterx|px-cloud|incapsula|imperva|kasada|awswaf|aws-waf/i

/** Says where the sign was found, because many pages load such scripts without showing a challenge. */
export function challengeOf(element: Element, name: string, isShown: boolean): string {
  const source = (attributeOf(element, 'src') ?? '').slice(0, 300)
  if (name === 'script') return CHALLENGE.test(source) ? `script:${source}` : ''
  if (!isShown) return ''
  if (name === 'iframe') {
    const words = `${source} ${attribute(element, 'title')} ${attribute(element, 'name')}`
    return CHALLENGE.test(words) ? `frame:${words}` : ''
  }
  const words = [
    name,
    attribute(element, 'class'),
    attribute(element, 'id'),
    attribute(element, 'name'),
    attribute(element, 'alt'),
    name === 'img' ? fileName(source) : '',
  ].join(' ')
  return CHALLENGE.test(words) ? `element:${words}` : ''
}
