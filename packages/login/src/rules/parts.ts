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

/** The elements of one group. Divided only where more than one part has a password. */
export function partsOf(elements: readonly ElementSnapshot[]): readonly Part[] {
  const parts: ElementSnapshot[][] = []
  let part: ElementSnapshot[] = []
  for (const element of elements) {
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
  const divided = withPassword.length > 1 ? parts : [[...elements]]
  return divided.map((each) => ({ fields: each.filter(isShownField), elements: new Set(each) }))
}

const isShownField = (element: ElementSnapshot) => element.is_visible && isTextField(element)

function isSender(element: ElementSnapshot): boolean {
  if (!element.is_visible || !isClickable(element) || element.tag === 'a') return false
  return caption(element).length > 1 && area(element) >= MIN_AREA && !isAboutField(element)
}
