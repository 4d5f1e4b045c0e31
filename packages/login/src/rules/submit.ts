// Finds the control that submits a form. Some controls are never clicked, whatever the page says.
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import {
  forgotWords,
  harmfulWords,
  logOutWords,
  nextWords,
  passkeyWords,
  resendWords,
  signInWords,
  signUpWords,
  switchWords,
  withWords,
} from '../words/actions.ts'
import { fold, words } from '../words/match.ts'
import { providerIn, providerInNames } from '../words/providers.ts'
import { allNames, area, caption, isClickable } from './element-words.ts'
import { isFieldIcon, isOnwardIcon } from './icons.ts'
import type { Scene } from './reading.ts'

const aboutAField = words(
  `show | hide | reveal | toggle | =clear | print | language | =help | anzeigen | verbergen | afficher | masquer | mostrar | ocultar | mostra | nascondi | tonen | verberg | visa | dölj | vis | skjul | näytä | piilota | pokaż | ukryj | zobrazit | skrýt | показать | скрыть | показати | göster | gizle | 表示 | 显示 | 표시`,
)
const MIN_SCORE = 10
const MIN_AREA = 300

/** Shows or hides a password, clears or explains a field. */
export function isAboutField(element: ElementSnapshot): boolean {
  return aboutAField.in(fold(caption(element))) || isFieldIcon(element)
}

export function submitOf(
  { elements }: Pick<Scene, 'elements'>,
  group: number,
  fields: readonly ElementSnapshot[],
): ElementSnapshot | undefined {
  const bottom = Math.max(...fields.map(({ box }) => (box[1] ?? 0) + (box[3] ?? 0)), 0)
  const top = Math.min(...fields.map(({ box }) => box[1] ?? 0))
  const candidates = elements.filter(
    (element) => element.is_visible && isClickable(element) && !isForbidden(element),
  )
  const inside = candidates.filter((element) => element.group === group)
  const scored = inside
    .map((element) => ({ element, score: scoreOf(element, { top, bottom }) }))
    .toSorted((one, other) => other.score - one.score)
  const best = scored[0]
  if (best && best.score >= MIN_SCORE) return best.element
  const buttons = inside.filter(
    (element) => element.tag !== 'a' && area(element) > MIN_AREA && !isAboutField(element),
  )
  const onward = buttons.filter(isOnwardIcon)
  const [only, ...others] = onward.length > 0 ? onward : buttons
  return others.length === 0 ? only : undefined
}

function leadsAway({ href }: ElementSnapshot): boolean {
  return /^https?:/.test(href) && !href.endsWith('#')
}

function scoreOf(element: ElementSnapshot, { top, bottom }: { top: number; bottom: number }): number {
  const says = fold(caption(element))
  const names = allNames(element)
  let score = 0
  if (element.type === 'submit' || element.type === 'image') score += 15
  if (signInWords.in(says)) score += 30
  else if (nextWords.in(says)) score += 20
  if (/primary|submit/.test(names)) score += 8
  if (/log ?in|sign ?in|submit/.test(names)) score += 4
  if (element.tag === 'a') score -= leadsAway(element) ? 18 : 3
  if (element.tag === 'other') score -= 4
  if ((element.box[1] ?? 0) >= bottom - 10) score += 5
  // Controls above the fields switch between forms.
  if ((element.box[1] ?? 0) + (element.box[3] ?? 0) <= top) score -= 25
  if (isAboutField(element)) score -= 60
  if (area(element) < MIN_AREA) score -= 20
  return score
}

/** Controls that never submit a login: cancel, deny, log out, sign up, or another provider. */
export function isForbidden(element: ElementSnapshot): boolean {
  const says = fold(caption(element))
  if (harmfulWords.in(says) && !signInWords.in(says)) return true
  if (signUpWords.in(says) && !signInWords.in(says)) return true
  if (
    forgotWords.in(says) ||
    logOutWords.in(says) ||
    resendWords.in(says) ||
    passkeyWords.in(says) ||
    switchWords.in(says)
  )
    return true
  if (isElsewhere(element, says)) return true
  return element.type === 'reset'
}

function isElsewhere(element: ElementSnapshot, says: string): boolean {
  if (providerIn(caption(element)) && (withWords.in(says) || says.length < 25)) return true
  return says === '' && providerInNames(`${element.icon} ${element.class_name}`) !== undefined
}
