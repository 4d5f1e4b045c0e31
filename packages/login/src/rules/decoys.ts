// Fields that nobody is meant to fill in: a twin that shows the password in clear, and decoys that keep browsers from
// filling in the real field. Only among several passwords, because a single odd field may be the real one.
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import { emailWords, loginNameWords, passwordWords } from '../words/fields.ts'
import { fold } from '../words/match.ts'
import { allNames, area, givenNames, isTextField, seenWords } from './element-words.ts'

const MIN_SIDE = 12
const MIN_OVERLAP = 0.6
const BESIDE_PX = 40
const DECOY_NAMES =
  /fake|decoy|dummy|honey|trap|prevent|(no|dis|stop|block|un)(able)? ?auto ?(fill|complete)|not ?used|unused|remembered/

export function withoutDecoys(elements: readonly ElementSnapshot[]): ElementSnapshot[] {
  const passwords = elements.filter(isPassword)
  const real = passwords.filter((element) => !isDecoy(element))
  const left = real.length > 0 ? real : passwords
  const dropped = new Set(passwords.filter((each) => !left.includes(each)))
  for (const [index, one] of left.entries()) {
    for (const other of left.slice(index + 1)) {
      if (dropped.has(one) || dropped.has(other) || !areTwins(one, other)) continue
      dropped.add(isBetter(other, one) ? one : other)
    }
  }
  const names = new Set(
    passwords.length > 1 || dropped.size > 0
      ? elements.filter((each) => !isPassword(each) && isDecoy(each))
      : [],
  )
  const kept = elements.filter((each) => !dropped.has(each) && !names.has(each))
  return kept.some((each) => isTextField(each)) ? kept : [...elements]
}

/** Also a text field with the label of a password, unless the label names the field before it as well. */
function isPassword(element: ElementSnapshot): boolean {
  if (element.type === 'password') return true
  if (element.type !== 'text') return false
  const seen = seenWords(element)
  if (loginNameWords.in(seen) || emailWords.in(seen)) return false
  const near = isNameless(element) && element.near.length < 40 ? fold(element.near) : ''
  return passwordWords.in(seen) || passwordWords.in(givenNames(element)) || passwordWords.in(near)
}

/** Nothing is sent for a field without a name, unless a script does it. */
function isNameless({ name, id, label, placeholder }: ElementSnapshot): boolean {
  return name === '' && id === '' && label === '' && placeholder === ''
}

function isDecoy(element: ElementSnapshot): boolean {
  const [, , width = 0, height = 0] = element.box
  if (DECOY_NAMES.test(allNames(element))) return true
  if (/(?<![\w-])(aria-hidden=true|tabindex=-)/.test(element.data)) return true
  return width < MIN_SIDE || height < MIN_SIDE || (element.is_read_only && !element.has_value)
}

/** At the same place, or a clear and a hidden one of the same name side by side. */
function areTwins(one: ElementSnapshot, other: ElementSnapshot): boolean {
  if (overlap(one, other) >= MIN_OVERLAP) return true
  const distance = Math.abs((one.box[1] ?? 0) - (other.box[1] ?? 0))
  if (one.type === other.type) {
    const isUnsent = [one, other].some(({ name, id }) => name === '' && id === '')
    return isUnsent && distance <= MIN_SIDE && seenName(one) !== '' && seenName(one) === seenName(other)
  }
  const isSame =
    nameOf(one) === nameOf(other) ||
    (seenName(one) !== '' && seenName(one) === seenName(other)) ||
    isNameless(one) ||
    isNameless(other)
  return distance <= BESIDE_PX && isSame
}

const seenName = ({ label, placeholder }: ElementSnapshot) => fold(label || placeholder)

/** `password`, `password-text` and `password_clear` are one name. */
function nameOf(element: ElementSnapshot): string {
  return givenNames(element)
    .split(' ')
    .filter(
      (part) => !/^(text|plain|clear|visible|show|shown|unmasked|mask|masked|hidden|toggle|\d+)$/.test(part),
    )
    .slice(0, 1)
    .join(' ')
}

function overlap(one: ElementSnapshot, other: ElementSnapshot): number {
  const [left = 0, top = 0, width = 0, height = 0] = one.box
  const [otherLeft = 0, otherTop = 0, otherWidth = 0, otherHeight = 0] = other.box
  const across = Math.min(left + width, otherLeft + otherWidth) - Math.max(left, otherLeft)
  const down = Math.min(top + height, otherTop + otherHeight) - Math.max(top, otherTop)
  const smaller = Math.min(area(one), area(other))
  return smaller > 0 ? (Math.max(0, across) * Math.max(0, down)) / smaller : 0
}

/** The one that hides what is typed, then the larger one. */
function isBetter(one: ElementSnapshot, other: ElementSnapshot): boolean {
  if (one.type !== other.type) return one.type === 'password'
  if ((one.name === '') !== (other.name === '')) return one.name !== ''
  return area(one) > area(other)
}
