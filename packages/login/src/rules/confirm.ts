// Pages between the login and the application: consent, `stay signed in?`, offers to skip.
import type { ElementSnapshot, PageSnapshot } from '@berth/contracts/page-snapshot'
import {
  agreeWords,
  consentPageWords,
  harmfulWords,
  logOutWords,
  nextWords,
  signUpWords,
  skipWords,
  staySignedInWords,
  termsWords,
} from '../words/actions.ts'
import { fold, words } from '../words/match.ts'
import { area, caption, isClickable } from './element-words.ts'
import type { Confirm, Scene } from './reading.ts'

const CONSENT_PATH =
  /consent|authori[sz]e|oauth|approval|grant|permission|kmsi|stay|remember|trust|interrupt|continue|select|confirm|welcome|terms|tos|prompt/i
const MAX_CONTROLS = 14
const MAX_PAGE_LENGTH = 4_000

const setUpWords = words(
  `set up | add a | add your | turn on | enable | secure your account | protect your account | recovery | einrichten | hinzufügen | aktivieren | configurer | ajouter | activer | configurar | añadir | activar | configura | aggiungi | attiva | adicionar | ativar | instellen | toevoegen | ställ in | lägg till | konfigurer | tilføj | legg til | määritä | lisää | skonfiguruj | dodaj | nastavit | přidat | настро | добав | налашт | додай | ayarla | ekle | 設定 | 追加 | 设置 | 添加 | 설정 | 추가`,
)

export function confirmOf(
  snapshot: PageSnapshot,
  scenes: readonly Scene[],
  isSignedIn: boolean,
): Confirm | undefined {
  const [scene] = scenes
  if (!scene || scene.frame.text.length > MAX_PAGE_LENGTH) return undefined
  const buttons = scene.elements.filter(
    (element) => element.is_visible && isClickable(element) && element.region !== 'footer',
  )
  if (buttons.length > MAX_CONTROLS) return undefined
  const text = fold(`${scene.frame.title} . ${scene.frame.text}`)
  const isStay = staySignedInWords.in(text)
  const isTerms = termsWords.in(fold(`${scene.frame.title} . ${scene.frame.headings.join(' . ')}`))
  const ticks = scene.elements.filter((element) => isAgreement(element, isTerms))
  const isConsent =
    consentPageWords.in(text) &&
    (CONSENT_PATH.test(URL.parse(snapshot.url)?.pathname ?? '') || hasDenial(buttons))
  const skip = pick(buttons, (says) => skipWords.in(says))
  if (setUpWords.in(text) && skip && !isSignedIn) return { button: skip, ticks: [] }
  if (!isStay && !isConsent && !isTerms && ticks.length === 0) return undefined
  // Do not agree to questions behind the login.
  if (isSignedIn && !isConsent) return undefined
  const button =
    pick(buttons, (says) => agreeWords.in(says) || nextWords.in(says)) ?? (isStay ? skip : undefined)
  return button && { button, ticks }
}

function isAgreement(element: ElementSnapshot, isTerms: boolean): boolean {
  if (element.type !== 'checkbox' || !element.is_visible || !element.is_enabled || element.is_checked)
    return false
  const says = fold(element.label || element.text)
  // Newsletters are never required.
  if (/newsletter|marketing|offers|updates|werbung|publicite/.test(says)) return false
  return element.is_required || (isTerms && (agreeWords.in(says) || termsWords.in(says)))
}

function hasDenial(buttons: readonly ElementSnapshot[]): boolean {
  return buttons.some((element) => harmfulWords.in(fold(caption(element))))
}

function pick(
  buttons: readonly ElementSnapshot[],
  isWanted: (says: string) => boolean,
): ElementSnapshot | undefined {
  return buttons
    .filter((element) => {
      const says = fold(caption(element))
      if (says.length === 0 || says.length > 60) return false
      if (logOutWords.in(says) || signUpWords.in(says)) return false
      return isWanted(says) && !isDenied(says)
    })
    .toSorted((one, other) => rank(other) - rank(one))[0]
}

/** `Not now` contains a harmless `no`. */
function isDenied(says: string): boolean {
  return harmfulWords.in(says) && !skipWords.in(says)
}

function rank(element: ElementSnapshot): number {
  const isButton = element.tag === 'a' ? 0 : 100_000
  const isPrimary =
    /primary|submit|confirm/.test(element.class_name.toLowerCase()) || element.type === 'submit' ? 50_000 : 0
  return isButton + isPrimary + Math.min(area(element), 40_000)
}
