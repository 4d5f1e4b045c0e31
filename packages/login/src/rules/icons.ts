// Controls that are only a picture. Their names are those that developers gave to the picture, in any language of the page.
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import { tokens } from '../words/match.ts'
import { area, isClickable } from './element-words.ts'
import type { Scene } from './reading.ts'

const LOGIN = /(?<![a-z])(log ?in|sign ?in|log ?on|box arrow in|door|enter)(?![a-z])/
const PERSON = /(?<![a-z])(user|account|person|profile|avatar|member|login|people|face|customer)(?![a-z])/
const OTHER =
  /(?<![a-z])(search|cart|basket|bag|shop|menu|hamburger|bars|close|theme|dark|moon|sun|bell|heart|wish ?list|globe|lang(uage)?|flag|share|home|logo|brand|arrow left|chevron|prev|next|play|download|facebook|twitter|instagram|youtube|linkedin|github|rss|cookie)(?![a-z])/
const FIELD =
  /(?<![a-z])(eye|eyes|visib\w*|reveal|unmask|mask|show|hide|toggle|clear|info|help|question|tooltip|mic)(?![a-z])/
const ONWARD =
  /(?<![a-z])(arrow|right|next|go|submit|send|forward|chevron|login|enter|paper plane|check)(?![a-z])/
const MIN_SIDE = 12
const MAX_AREA = 10_000

/** Without any words. */
export function isIcon(element: ElementSnapshot): boolean {
  const { text, label, title, box } = element
  const [, , width = 0, height = 0] = box
  const isSmall = width >= MIN_SIDE && height >= MIN_SIDE && area(element) <= MAX_AREA
  return isSmall && text === '' && label === '' && title === '' && isClickable(element)
}

const namesOf = ({ icon, class_name, id, data, name }: ElementSnapshot) =>
  tokens(`${icon} ${class_name} ${id} ${name} ${data}`)

/** Shows or hides what is typed, or explains a field. */
export function isFieldIcon(element: ElementSnapshot): boolean {
  return isIcon(element) && FIELD.test(namesOf(element))
}

export function isOnwardIcon(element: ElementSnapshot): boolean {
  return isIcon(element) && ONWARD.test(namesOf(element)) && !isFieldIcon(element)
}

/** Icons that may lead to the login, best first. Nothing else about the page follows from them: others have them too. */
export function loginIconsOf(scenes: readonly Scene[]): ElementSnapshot[] {
  const ranked = scenes.flatMap(({ elements }) =>
    elements.flatMap((element, index) => {
      const rank = element.is_visible && isIcon(element) ? rankOf(element) : 0
      // Of several without names, the last is in the corner.
      return rank > 0 ? [{ element, rank: rank + index / 1_000 }] : []
    }),
  )
  return ranked.toSorted((one, other) => other.rank - one.rank).map(({ element }) => element)
}

function rankOf(element: ElementSnapshot): number {
  const names = namesOf(element)
  const isOnTop = element.region === 'header' || element.region === 'nav'
  if (LOGIN.test(names)) return 4
  if (PERSON.test(names)) return isOnTop ? 3 : 2
  return isOnTop && !OTHER.test(names) ? 1 : 0
}
