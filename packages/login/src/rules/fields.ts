// Decides what a field asks for. The first match wins: what the page declares, the type, the words, the position.
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import * as word from '../words/fields.ts'
import { fold } from '../words/match.ts'
import { allNames, autofillOf, givenNames, isTextField, seenWords } from './element-words.ts'

export type Role =
  | 'code'
  | 'password'
  | 'new password'
  | 'identifier'
  | 'text'
  | 'captcha'
  | 'search'
  | 'ignored'
  /** Its position in the form decides. */
  | 'unclear'

export function roleOf(element: ElementSnapshot): Role {
  const declared = declaredRole(element)
  if (declared) return declared
  const seen = seenWords(element)
  const names = givenNames(element)
  const both = `${seen} ${names}`
  if (isIgnored(element, both)) return 'ignored'
  if (word.captchaWords.in(both) || /captcha/.test(allNames(element))) return 'captcha'
  if (isSearch(element, both)) return 'search'
  if (isQuestion(element)) return 'text'
  if (element.type === 'password') {
    if (isCode(element, both) && !word.passwordWords.in(seen)) return 'code'
    return isNew(seen, both) ? 'new password' : 'password'
  }
  // What people read is surer than the names, which may speak of the whole form: `userProfile.password`.
  if (isShownPassword(element, seen)) return 'password'
  if (isCode(element, both)) return 'code'
  if (isOrganisation(seen, names)) return 'text'
  if (word.identityWords.in(both) && !word.usernameWords.in(seen)) return 'text'
  if (element.type === 'email' || word.emailWords.in(both)) return 'identifier'
  if (word.usernameWords.in(both) || word.nationalIdWords.in(both)) return 'identifier'
  if (element.type === 'tel' || word.phoneWords.in(both)) return 'identifier'
  // Some pages draw the dots of a password field themselves.
  if (word.passwordWords.in(seen)) return 'password'
  const around = fold(element.near)
  if (around.length < 40 && !element.label && !element.placeholder) {
    if (word.passwordWords.in(around)) return 'password'
    if (word.emailWords.in(around) || word.usernameWords.in(around)) return 'identifier'
    if (word.organisationWords.in(around)) return 'text'
  }
  return isShortNumber(element) ? 'code' : 'unclear'
}

const isNew = (seen: string, both: string) => word.newPasswordWords.in(both) || word.createWords.in(seen)

/** Some pages draw the dots of a password field themselves. */
function isShownPassword({ type }: ElementSnapshot, seen: string): boolean {
  return (
    type === 'text' &&
    word.passwordWords.in(seen) &&
    !word.usernameWords.in(seen) &&
    !word.emailWords.in(seen) &&
    !word.codeWords.in(seen) &&
    !isNew(seen, seen)
  )
}

/** `Email or client number` takes either, so it is no organisation. */
function isOrganisation(seen: string, names: string): boolean {
  if (word.emailWords.in(seen) || word.loginNameWords.in(seen)) return false
  return word.organisationWords.in(seen) || (word.organisationWords.in(names) && !word.usernameWords.in(seen))
}

/** Recognises a code in any language: a field for a few digits. */
function isShortNumber({ max_length: length, input_mode: mode, pattern, type }: ElementSnapshot): boolean {
  const isNumeric = mode === 'numeric' || type === 'tel' || /\\d|\[0-9\]/.test(pattern)
  return isNumeric && length !== null && length >= 4 && length <= 8
}

function declaredRole(element: ElementSnapshot): Role | undefined {
  const autofill = autofillOf(element)
  if (autofill === 'one-time-code') return 'code'
  if (autofill.startsWith('cc-')) return 'ignored'
  const isPassword = element.type === 'password'
  // Ignore a contradicting declaration.
  if (autofill === 'current-password' && isPassword) return 'password'
  if (autofill === 'new-password' && isPassword) {
    // Many pages set `new-password` only to disable autofill.
    const seen = seenWords(element)
    return isNew(seen, `${seen} ${givenNames(element)}`) ? 'new password' : undefined
  }
  if (isPassword) return undefined
  if (autofill === 'username') return 'identifier'
  if (autofill === 'organization') return 'text'
  if (autofill === 'email' || /^tel(-national)?$/.test(autofill))
    return isCode(element, `${seenWords(element)} ${givenNames(element)}`) ? 'code' : 'identifier'
  return undefined
}

function isIgnored(element: ElementSnapshot, both: string): boolean {
  if (element.is_read_only && !element.has_value) return true
  return word.ignoredWords.in(both)
}

/** A security question. Many pages hide the typed answer. */
export function isQuestion(element: ElementSnapshot): boolean {
  const names = `${seenWords(element)} ${givenNames(element)}`
  return (
    word.answerWords.in(names) ||
    (/[?？؟]\s*$/.test(element.label) &&
      !word.passwordWords.in(names) &&
      !word.usernameWords.in(seenWords(element)))
  )
}

function isSearch(element: ElementSnapshot, both: string): boolean {
  if (element.type === 'search' || element.role === 'searchbox' || element.region === 'search') return true
  return word.searchWords.in(both) && !word.usernameWords.in(both) && element.type !== 'password'
}

function isCode(element: ElementSnapshot, both: string): boolean {
  if (word.notCodeWords.in(both)) return false
  if (word.codeWords.in(both) || word.backupWords.in(both))
    return !/pass ?word/.test(both) || /one.?time/.test(both)
  if (!word.weakCodeWords.in(both)) return false
  if (word.emailWords.in(both) && !/code/.test(both)) return false
  const length = element.max_length
  const isShort = length !== null && length >= 4 && length <= 10
  const isNumeric =
    element.input_mode === 'numeric' ||
    element.type === 'number' ||
    element.type === 'tel' ||
    /\\d|\[0-9\]/.test(element.pattern)
  // The word `code` alone is ambiguous. It counts with a numeric or short field, or in the visible text.
  return isShort || isNumeric || element.type === 'password'
    ? true
    : !word.usernameWords.in(both.replaceAll(/\bid\b/g, '')) && word.weakCodeWords.in(seenWords(element))
}

/** A secret that many websites call a code or PIN. Beside a name, it is the password. */
export function maybePassword(element: ElementSnapshot): boolean {
  const isSecret = element.type === 'password' || word.pinWords.in(seenWords(element))
  return (
    isSecret &&
    autofillOf(element) !== 'one-time-code' &&
    !word.codeWords.in(`${seenWords(element)} ${givenNames(element)}`)
  )
}

/** Rows of boxes with one character each. */
export function boxesOf(elements: readonly ElementSnapshot[]): readonly ElementSnapshot[][] {
  const runs: ElementSnapshot[][] = []
  let run: ElementSnapshot[] = []
  const end = () => {
    if (run.length >= 4 && run.length <= 10) runs.push(run)
    run = []
  }
  for (const element of elements) {
    if (!isTextField(element)) continue
    const last = run.at(-1)
    if (!isSingle(element)) end()
    else {
      if (last && !isBeside(last, element)) end()
      run.push(element)
    }
  }
  end()
  return runs
}

function isSingle(element: ElementSnapshot): boolean {
  if (!/^(text|tel|number|password)$/.test(element.type)) return false
  if (element.max_length === 1) return true
  const [, , width = 0, height = 0] = element.box
  // Some pages omit `maxlength` so that users can paste the whole code.
  const isNarrow = width > 0 && width <= 90 && width <= height * 1.8
  const isNumeric =
    element.input_mode === 'numeric' ||
    element.type !== 'text' ||
    element.pattern !== '' ||
    autofillOf(element) === 'one-time-code'
  return isNarrow && isNumeric
}

function isBeside(one: ElementSnapshot, other: ElementSnapshot): boolean {
  return (
    one.group === other.group &&
    one.frame === other.frame &&
    Math.abs((one.box[1] ?? 0) - (other.box[1] ?? 0)) <= 8
  )
}
