// The name under which a field's value is stored, and the label that users see.
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import type { MfaType } from '../run/run.ts'
import * as word from '../words/fields.ts'
import { fold } from '../words/match.ts'
import { autofillOf, givenNames, seenWords } from './element-words.ts'

/** `email`, `phone` or `username`. */
export function identifierRef(element: ElementSnapshot): string {
  const seen = seenWords(element)
  const names = givenNames(element)
  const isEmail = element.type === 'email' || autofillOf(element) === 'email' || word.emailWords.in(seen)
  // `Email or username` accepts either.
  const isOther = word.usernameWords.in(seen.replaceAll(/\b(e-?mail )?(address|account)\b/g, ''))
  if (isEmail) return element.type === 'email' || !isOther ? 'email' : 'username'
  if (
    !isOther &&
    (element.type === 'tel' || autofillOf(element).startsWith('tel') || word.phoneWords.in(seen))
  )
    return 'phone'
  if (!isOther && word.emailWords.in(names) && !word.usernameWords.in(names)) return 'email'
  return 'username'
}

export function textRef(element: ElementSnapshot): string {
  const isName = /^[a-z][\w.[\]-]{1,40}$/i.test(element.name) && !/\d{3,}|[0-9a-f]{8,}/i.test(element.name)
  const isId = /^[a-z][\w-]{1,40}$/i.test(element.id) && !/\d{3,}|[0-9a-f]{8,}/i.test(element.id)
  const source = isName ? element.name : isId ? element.id : labelOf(element)
  return slug(source) || 'text'
}

export function slug(text: string): string {
  return fold(text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1_$2'))
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 60)
}

export function labelOf(element: ElementSnapshot): string {
  const found =
    element.label ||
    element.placeholder ||
    (element.near.length <= 60 ? element.near : '') ||
    element.title ||
    element.name ||
    element.id
  return found.replaceAll(/\s*[*:：]+\s*$/g, '').slice(0, 120)
}

/** How the user gets the code, if the page says so. */
export function codeSource(field: string, page: string): MfaType | undefined {
  for (const each of [fold(field), fold(page)]) {
    // The page may mention backup codes as another way.
    const text = word.backupWords.removedFrom(each)
    const isTotp = word.totpWords.in(text)
    const isSms = word.smsWords.in(text)
    const isEmail = word.emailSentWords.in(text)
    if (isTotp && !isSms && !isEmail) return 'totp'
    if (isSms && !isTotp && !isEmail) return 'sms'
    if (isEmail && !isTotp && !isSms) return 'email'
    const nearest = nearestSource(text)
    if (nearest) return nearest
  }
  return undefined
}

/**
 * Whether the field takes nothing but a backup code. Some fields take both, and then a stored secret can answer: `Enter the
 * code from your app, or a recovery code`.
 */
export function isForBackupOnly(element: ElementSnapshot, label: string): boolean {
  const own = fold(`${label} . ${element.placeholder}`)
  const near = fold(`${element.near} . ${element.description}`)
  if (word.backupWords.in(own)) return !namesAnotherCode(own)
  if (word.backupWords.in(near)) return !namesAnotherCode(near)
  return word.backupWords.in(givenNames(element)) && !word.totpWords.in(`${own} ${near}`)
}

function namesAnotherCode(text: string): boolean {
  const rest = word.backupWords.removedFrom(text)
  return word.totpWords.in(rest) || word.codeWords.in(rest) || word.weakCodeWords.in(rest)
}

/** If the page names several sources, the one in the sentence about entering the code. */
function nearestSource(text: string): MfaType | undefined {
  const sentence = text
    .split(/[.!?。\n]/)
    .find((part) => word.codeWords.in(part) || word.weakCodeWords.in(part))
  if (sentence === undefined) return undefined
  const found: MfaType[] = []
  if (word.totpWords.in(sentence)) found.push('totp')
  if (word.smsWords.in(sentence)) found.push('sms')
  if (word.emailSentWords.in(sentence)) found.push('email')
  return found.length === 1 ? found[0] : undefined
}

export function isSameRef(one: string, other: string): boolean {
  return slug(one).replaceAll('_', '') === slug(other).replaceAll('_', '')
}
