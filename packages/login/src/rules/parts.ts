// One form may be several: some frameworks put a whole page into one form element, with signing in, signing up and a
// search. The buttons divide it, because a button submits the fields before it.
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import { area, caption, isClickable, isTextField } from './element-words.ts'
import { isAboutField } from './submit.ts'

const MIN_AREA = 300

export interface Part {
  readonly fields: readonly ElementSnapshot[]
  /** Everything of the part, in the order of the page. */
  readonly elements: ReadonlySet<ElementSnapshot>
}

/**
 * The elements of one group. Divided where more than one part has a password, or where the part with the password has a
 * name of its own. Otherwise a button stands between the two fields of one login.
 */
export function partsOf(elements: readonly ElementSnapshot[]): readonly Part[] {
  const parts: ElementSnapshot[][] = []
  let part: ElementSnapshot[] = []
  for (const element of elements) {
    if (isRepeated(element, part)) {
      parts.push(part)
      part = []
    }
    part.push(element)
    if (isSender(element) && part.some(isShownField)) {
      parts.push(part)
      part = []
    }
  }
  // What follows the last button belongs to it, unless it has fields itself.
  if (part.some(isShownField) || parts.length === 0) parts.push(part)
  else parts.at(-1)!.push(...part)
  const withPassword = parts.filter((each) =>
    each.some((element) => element.type === 'password' && element.is_visible),
  )
  const divided = withPassword.length > 1 ? parts : cutBefore(parts, withPassword[0])
  return divided.map((each) => ({ fields: each.filter(isShownField), elements: new Set(each) }))
}

const isShownField = (element: ElementSnapshot) => element.is_visible && isTextField(element)

/** A search or a newsletter before the login is cut off. What follows the password stays, because it says what for. */
function cutBefore(
  parts: readonly ElementSnapshot[][],
  login: readonly ElementSnapshot[] | undefined,
): readonly ElementSnapshot[][] {
  const at = login?.some(isName) ? parts.findIndex((part) => part === login) : 0
  return [...parts.slice(0, at), parts.slice(at).flat()]
}

const isPassword = (element: ElementSnapshot) => element.type === 'password' && element.is_visible

/** A text field that is likely to be the name: the only one of its part, or one before the password. */
function isName(element: ElementSnapshot, index: number, part: readonly ElementSnapshot[]): boolean {
  return (
    isShownField(element) &&
    !isPassword(element) &&
    element.tag === 'input' &&
    part.slice(index).some(isPassword)
  )
}

/** A second login in the same form: its fields have the names of the first. */
function isRepeated(element: ElementSnapshot, part: readonly ElementSnapshot[]): boolean {
  return (
    element.name !== '' &&
    isShownField(element) &&
    !isPassword(element) &&
    part.some(isPassword) &&
    part.some((each) => isShownField(each) && each.name === element.name)
  )
}

function isSender(element: ElementSnapshot): boolean {
  if (!element.is_visible || !isClickable(element)) return false
  if (element.tag === 'a' && !element.href.startsWith('javascript:')) return false
  return caption(element).length > 1 && area(element) >= MIN_AREA && !isAboutField(element)
}
