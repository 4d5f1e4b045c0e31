// What a page says about passkeys: the control that signs in with one, and an offer to make one after a login.
import type { ElementSnapshot, PageSnapshot } from '@berth/contracts/page-snapshot'
import {
  forgotWords,
  harmfulWords,
  logOutWords,
  nextWords,
  passkeyWords,
  signInWords,
  signUpWords,
  skipWords,
} from '../words/actions.ts'
import { fold, words } from '../words/match.ts'
import { caption, isClickable } from './element-words.ts'
import type { ReadChoice } from './reading.ts'

const MAX_CAPTION_LENGTH = 80
const MAX_OFFER_LENGTH = 4_000

const createWords = words(
  `create | add | set up | setup | register | enroll | enrol | save | turn on | enable | activate | erstellen | anlegen | hinzufügen | einrichten | speichern | aktivieren | créer | ajouter | configurer | enregistrer | activer | crear | añadir | agregar | configurar | guardar | activar | crea | aggiungi | configura | salva | attiva | criar | adicionar | salvar | ativar | aanmaken | maken | toevoegen | instellen | opslaan | skapa | lägg till | opret | tilføj | opprett | legg til | luo | lisää | utwórz | dodaj | skonfiguruj | zapisz | vytvořit | přidat | nastavit | создать | добавить | настроить | сохранить | створити | додати | зберегти | oluştur | ekle | kaydet | 作成 | 追加 | 登録 | 保存 | 创建 | 添加 | 設定 | 만들기 | 추가 | 등록`,
)

/** Words about passkeys that are no way to sign in with one. */
const asideWords = words(
  `learn | what is | what are | what's | more about | manage | help | another device | other device | different device | use a phone | mehr erfahren | was ist | was sind | verwalten | anderes gerät | en savoir plus | qu'est-ce | gérer | autre appareil | más información | qué es | gestionar | otro dispositivo | scopri di più | che cos | gestisci | altro dispositivo | saiba mais | o que é | gerenciar | meer informatie | wat is | beheren | läs mer | læs mere | les mer | lue lisää | dowiedz się | co to jest | zjistit více | подробнее | что такое | daha fazla | 詳細 | 詳しく | とは | 了解 | 什么是 | 자세히`,
)

/** The control that asks the browser for a passkey. */
export function passkeyControlOf(snapshot: PageSnapshot): ElementSnapshot | undefined {
  const found = shownControls(snapshot).filter((element) => {
    const said = says(element)
    if (said.length > MAX_CAPTION_LENGTH || !passkeyWords.in(said)) return false
    const isOther = createWords.in(said) || asideWords.in(said) || skipWords.in(said) || forgotWords.in(said)
    return !isOther && !harmfulWords.in(said) && !logOutWords.in(said) && !signUpWords.in(said)
  })
  return found.find((element) => signInWords.in(says(element))) ?? found[0]
}

/** Whether the page has the browser offer passkeys in a field. */
export function offersInField({ elements }: PageSnapshot): boolean {
  return elements.some(
    ({ autocomplete, is_visible: isVisible }) => isVisible && autocomplete.split(' ').includes('webauthn'),
  )
}

const says = (element: ElementSnapshot) => fold(caption(element))

export interface PasskeyOffer {
  readonly create: ElementSnapshot
  readonly skip: ElementSnapshot
}

/** Between the login and the application: make a passkey, or go on without one. */
export function passkeyOfferOf(snapshot: PageSnapshot): PasskeyOffer | undefined {
  const [main] = snapshot.frames
  if (!main || main.text.length > MAX_OFFER_LENGTH) return undefined
  if (!passkeyWords.in(fold(`${main.title} . ${main.headings.join(' . ')}`))) return undefined
  const controls = shownControls(snapshot)
  const skip = controls.find((element) => skipWords.in(says(element)))
  const others = controls.filter(
    (element) => element !== skip && !asideWords.in(says(element)) && !harmfulWords.in(says(element)),
  )
  const create =
    others.find((element) => passkeyWords.in(says(element)) && createWords.in(says(element))) ??
    others.find((element) => createWords.in(says(element)) || nextWords.in(says(element)))
  return skip && create && { create, skip }
}

export function toChoice(element: ElementSnapshot, kind: ReadChoice['kind']): ReadChoice {
  return {
    kind,
    label: caption(element).slice(0, 120),
    description: undefined,
    mfaType: undefined,
    target: undefined,
    provider: undefined,
    element,
    option: undefined,
  }
}

function shownControls({ elements, frames }: PageSnapshot): ElementSnapshot[] {
  return elements.filter(
    (element) =>
      element.is_visible &&
      element.is_enabled &&
      isClickable(element) &&
      element.region !== 'footer' &&
      frames[element.frame]?.is_visible === true,
  )
}
