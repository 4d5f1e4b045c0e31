// Finds the choices on a page: sign-in methods, second factors, accounts.
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import type { MfaType } from '../run/run.ts'
import {
  accountNounWords,
  chooseWords,
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
import * as word from '../words/fields.ts'
import { fold, words } from '../words/match.ts'
import { providerIn, providerInNames } from '../words/providers.ts'
import { localeNameOf } from '../words/locales.ts'
import { isBannerButton } from './dismiss.ts'
import { area, caption, isClickable } from './element-words.ts'
import { shapeOf } from './menus.ts'
import type { ReadChoice, ReadForm, Scene } from './reading.ts'

const MAX_CHOICES = 30
const EMAIL = /[^\s@<>()]+@[^\s@<>()]+\.[^\s@<>()]{2,}/
const MASKED =
  /(?:[\p{L}\p{N}+]*[*•●xX·…]{2,}[\p{L}\p{N}@.*•-]*|\+?\d[\d\s-]{6,}\d|[\p{L}\p{N}]?[*•]+[^\s]*@[^\s]+)/u
const callWords = words(
  `call | phone call | voice | anruf | anrufen | appel | llamada | llámame | chiamata | ligação | chamada | bellen | oproep | samtal | ring | opkald | puhelu | soita | zadzwoń | połączenie | hovor | zavolat | звонок | позвонить | дзвінок | arama | 電話 | 通话 | 致电 | 전화`,
)
const pushMethodWords = words(
  `push | notification | approve | prompt | tap yes | app notification | benachrichtigung | genehmigen | notification | notificación | notifica | notificação | melding | avisering | notifikation | varsel | ilmoitus | powiadomieni | oznámení | upozornění | уведомлени | сповіщенн | bildirim | 通知 | 推送 | 알림`,
)
const methodContext = words(
  `verify | verification | two-factor | two factor | 2fa | mfa | multi-factor | two-step | 2-step | second factor | second step | confirm it's you | confirm your identity | prove | how do you want | how would you like | choose a method | get a code | send a code | security code | receive | authentication method | extra security | bestätig | verifizier | zwei-faktor | zweistufig | zweiter faktor | wie möchten | vérifi | deux étapes | double authentification | second facteur | comment souhaitez | verific | dos pasos | doble factor | segundo factor | due passaggi | due fattori | secondo fattore | duas etapas | dois fatores | verifi | twee stappen | tweestaps | tvåfaktor | tofaktor | to-faktor | kaksivaih | vahvist | dwuetap | weryfik | dwuskładnik | dvoufáz | ověř | подтвер | двухфактор | двухэтап | підтвер | двофактор | doğrula | iki adım | iki faktör | 二段階 | 認証 | 本人確認 | 验证 | 驗證 | 双重 | 两步 | 인증 | 2단계`,
)

export function choicesOf(scenes: readonly Scene[], form: ReadForm | undefined): ReadChoice[] {
  const found = scenes.flatMap((scene) => [
    ...ssoChoices(scene, form),
    ...mfaChoices(scene, form),
    ...methodChoices(scene, form),
    ...selectChoices(scene, form),
    ...accountChoices(scene, form),
  ])
  const seen = new Set<string>()
  return found
    .filter(({ element, option }) => {
      const key = `${element.ref}/${option ?? ''}`
      return !seen.has(key) && Boolean(seen.add(key))
    })
    .slice(0, MAX_CHOICES)
}

function clickables({ elements }: Scene, form: ReadForm | undefined): ElementSnapshot[] {
  return elements.filter(
    (element) => element.is_visible && isClickable(element) && element.ref !== form?.submit?.ref,
  )
}

const LEADS_TO_PROVIDER =
  /oauth|authorize|saml|\bsso\b|social|oidc|openid|federat|\/auth\/|\/login\/|\/signin\/|\/connect\/|provider=|idp=|connection=/i

function ssoChoices(scene: Scene, form: ReadForm | undefined): ReadChoice[] {
  const candidates = clickables(scene, form)
    .filter((element) => element.region !== 'footer' && !isNotSignIn(fold(caption(element))))
    .map((element) => ({ element, provider: providerOf(element), says: fold(caption(element)) }))
    .filter((each): each is typeof each & { provider: string } => each.provider !== undefined)
  // A bare provider name only counts next to other providers, or if its address looks like a login.
  const isAmongOthers =
    candidates.filter(({ element }) => element.region !== 'header' && element.region !== 'nav').length >= 2
  return candidates
    .filter(({ element, provider, says }) => {
      if (leadsToProfile(element, provider)) return false
      if (withWords.in(says) || signInWords.in(says) || nextWords.in(says)) return says.length < 80
      if (LEADS_TO_PROVIDER.test(element.href)) return says.length < 60
      if (element.region === 'header' || element.region === 'nav') return false
      const isLogin = form !== undefined || isLoginPage(scene)
      return says.length < 30 && isLogin && (isAmongOthers || element.tag === 'button' || provider === 'sso')
    })
    .map(({ element, provider }) => choice('sso_provider', element, { provider }))
}

function providerOf(element: ElementSnapshot): string | undefined {
  const said = caption(element)
  const read = providerIn(said) ?? providerIn(element.label) ?? providerIn(element.title)
  if (read) return read
  // A control with another caption is not a provider button, whatever its icon is.
  if (said && !withWords.in(fold(said)) && said !== element.icon) return undefined
  return (
    providerInNames(`${element.icon} ${element.data} ${element.id}`) ?? providerInNames(element.class_name)
  )
}

/** `Follow us on …` leads to a profile page at the provider, not to its login. */
function leadsToProfile({ href }: ElementSnapshot, provider: string): boolean {
  const { hostname = '' } = URL.parse(href) ?? {}
  return hostname.includes(provider) && !LEADS_TO_PROVIDER.test(href) && !/log-?in|sign-?in|auth/i.test(href)
}

function isNotSignIn(says: string): boolean {
  if (signUpWords.in(says) && !signInWords.in(says)) return true
  return (
    forgotWords.in(says) ||
    logOutWords.in(says) ||
    (harmfulWords.in(says) && !signInWords.in(says) && !switchWords.in(says))
  )
}

function isLoginPage({ frame }: Scene): boolean {
  return (
    signInWords.in(fold(`${frame.title} . ${frame.headings.join(' . ')}`)) ||
    /log-?in|sign-?in|auth|sso/i.test(frame.url)
  )
}

function mfaTypeOf(says: string): MfaType | undefined {
  if (word.totpWords.in(says) && !pushMethodWords.in(says)) return 'totp'
  if (pushMethodWords.in(says)) return 'push'
  if (callWords.in(says)) return 'call'
  if (word.smsWords.in(says) || /(?<![\p{L}])text(?![\p{L}])/u.test(says)) return 'sms'
  if (word.emailWords.in(says)) return 'email'
  if (/(?<![\p{L}])(otp|totp)(?![\p{L}])/u.test(says)) return 'totp'
  return undefined
}

function mfaChoices(scene: Scene, form: ReadForm | undefined): ReadChoice[] {
  const isSecondStep =
    form?.kind === 'code' ||
    (!form &&
      methodContext.in(
        fold(
          `${scene.frame.title} . ${scene.frame.headings.join(' . ')} . ${scene.frame.text.slice(0, 1_500)}`,
        ),
      ))
  if (!isSecondStep || form?.kind === 'login' || form?.kind === 'identifier') return []
  const options = [...clickables(scene, form), ...radios(scene)].filter(
    (element) => element.region !== 'footer' && element.region !== 'nav' && element.region !== 'header',
  )
  return options.flatMap((element): ReadChoice[] => {
    const said = element.type === 'radio' ? element.label || element.text : caption(element)
    const says = fold(said)
    if (says.length < 2 || says.length > 200) return []
    if (switchWords.in(says)) return [choice('mfa_method', element, { mfaType: 'switch' })]
    if (resendWords.in(says)) return [choice('other', element, {})]
    if (isNotSignIn(says) && !word.codeWords.in(says)) return []
    if (word.backupWords.in(says)) return [choice('other', element, {})]
    if (passkeyWords.in(says)) return []
    const mfaType = mfaTypeOf(says) ?? (EMAIL.test(said) ? 'email' : MASKED.test(said) ? 'sms' : undefined)
    if (mfaType) return [choice('mfa_method', element, { mfaType })]
    if (word.passwordWords.in(says)) return [choice('mfa_method', element, { mfaType: 'password' })]
    return []
  })
}

function radios({ elements }: Scene): ElementSnapshot[] {
  return elements.filter((element) => element.type === 'radio' && element.is_visible && element.is_enabled)
}

const linkOrCodeWords = words(
  `magic link | email me | send me | send a link | sign-in link | login link | one-time | code | link schicken | link senden | lien | enlace | link | länk | lenke | linkki | odkaz | ссылк | посиланн | bağlantı | リンク | 链接 | 링크`,
)

/** `Sign in with email`, `Use a password instead`. */
function methodChoices(scene: Scene, form: ReadForm | undefined): ReadChoice[] {
  if (form?.kind === 'code') return []
  return clickables(scene, form).flatMap((element): ReadChoice[] => {
    if (element.region === 'footer' || element.region === 'nav') return []
    const says = fold(caption(element))
    if (
      says.length < 4 ||
      says.length > 80 ||
      isNotSignIn(says) ||
      providerOf(element) ||
      passkeyWords.in(says)
    )
      return []
    const isWay =
      withWords.in(says) ||
      signInWords.in(says) ||
      /(?<![\p{L}])(use|using|with|instead|via|by)(?![\p{L}])/u.test(says)
    if (form && switchWords.in(says))
      return [
        choice(form.kind === 'password' ? 'mfa_method' : 'sign_in_method', element, {
          mfaType: form.kind === 'password' ? 'switch' : undefined,
        }),
      ]
    if (!isWay || (element.region === 'header' && !form)) return []
    const ofSecret = form ? 'auth_method' : 'sign_in_method'
    if (word.passwordWords.in(says))
      return form?.fields.some(({ kind }) => kind === 'password') ? [] : [choice(ofSecret, element, {})]
    if (linkOrCodeWords.in(says)) return [choice(ofSecret, element, {})]
    const isIdentifier =
      word.emailWords.in(says) ||
      word.phoneWords.in(says) ||
      /user ?name|benutzername|nom d'utilisateur/.test(says)
    if (!isIdentifier) return []
    return [choice(form ? 'identifier_method' : 'sign_in_method', element, {})]
  })
}

/** Only required selects without a selected option. */
function selectChoices({ elements, index }: Scene, form: ReadForm | undefined): ReadChoice[] {
  const selects = elements.filter(
    (element) =>
      element.tag === 'select' &&
      element.is_visible &&
      element.is_enabled &&
      !element.has_choice &&
      element.options.length > 0 &&
      (element.is_required || form === undefined) &&
      !isOfLanguages(element) &&
      (!form || (form.frame === index && form.group === element.group)),
  )
  return selects.flatMap((element) =>
    element.options.map((option) => ({
      ...choice('other', element, {}),
      label: option.label || option.value,
      description: element.label || undefined,
      option: option.value,
    })),
  )
}

/** Also of currencies. A form may ask for a country, for the number of a phone. */
function isOfLanguages({ options }: ElementSnapshot): boolean {
  const named = options.filter(({ label, value }) =>
    /^(language|currency)$/.test(localeNameOf(label || value) ?? ''),
  )
  return named.length > options.length / 2
}

function accountChoices(scene: Scene, form: ReadForm | undefined): ReadChoice[] {
  if (form) return []
  const { frame } = scene
  const about = fold(`${frame.title} . ${frame.headings.join(' . ')}`)
  const text = fold(frame.text.slice(0, 1_500))
  const isAsked =
    chooseWords.in(about) || (chooseWords.in(text) && accountNounWords.in(text) && frame.text.length < 1_500)
  if (!isAsked || methodIsAsked(scene)) return []
  const items = [...clickables(scene, form), ...radios(scene)].filter((element) => {
    if (/^(footer|nav|header)$/.test(element.region)) return false
    const says = fold(element.type === 'radio' ? element.label || element.text : caption(element))
    if (says.length < 2 || says.length > 200 || area(element) < 200) return false
    if (isNotSignIn(says) || passkeyWords.in(says) || providerOf(element)) return false
    if (isBannerButton(scene, element)) return false
    return element.type === 'radio' || !isPlainButton(says)
  })
  const asked = askedFor(scene, items)
  const isPicker = asked.length >= 2 || asked.some((element) => EMAIL.test(caption(element)))
  return isPicker ? asked.map((element) => choice('account', element, {})) : []
}

const BESIDE_PX = 150

/**
 * The list that the page asks about: it has addresses, is in a form or a dialog, or follows the words that ask. Of other
 * controls, only one directly below belongs to it: `Use another account`.
 */
function askedFor(scene: Scene, items: readonly ElementSnapshot[]): readonly ElementSnapshot[] {
  const lists = Map.groupBy(items, shapeOf)
  const isAsked = ([first, ...others]: readonly ElementSnapshot[]) => {
    if (!first) return false
    const group = scene.frame.groups[first.group]
    const isApart = group?.is_form === true || first.is_in_dialog
    return (
      [first, ...others].some((element) => EMAIL.test(caption(element))) ||
      (others.length > 0 && (isApart || chooseWords.in(fold(first.near))))
    )
  }
  const asked = [...lists.values()].filter(isAsked).flat()
  if (asked.length === 0) return items
  const bottom = Math.max(...asked.map(({ box }) => (box[1] ?? 0) + (box[3] ?? 0)))
  const isBelow = ({ box }: ElementSnapshot) =>
    (box[1] ?? 0) >= bottom - 5 && (box[1] ?? 0) < bottom + BESIDE_PX
  const isSingle = (element: ElementSnapshot) => lists.get(shapeOf(element))!.length === 1
  return items.filter((element) => asked.includes(element) || (isSingle(element) && isBelow(element)))
}

function methodIsAsked(scene: Scene): boolean {
  return (
    mfaChoices(scene, undefined).filter(({ mfaType }) => mfaType !== undefined && mfaType !== 'switch')
      .length >= 2
  )
}

/** A button that submits a choice and is not a choice itself. */
function isPlainButton(says: string): boolean {
  return nextWords.in(says) && says.length < 20 && !EMAIL.test(says)
}

function choice(
  kind: ReadChoice['kind'],
  element: ElementSnapshot,
  more: { provider?: string; mfaType?: MfaType | undefined },
): ReadChoice {
  const said = element.type === 'radio' ? element.label || element.text : caption(element)
  const target = kind === 'mfa_method' ? (MASKED.exec(said)?.[0] ?? EMAIL.exec(said)?.[0]) : undefined
  return {
    kind,
    label: said.slice(0, 120),
    description: element.description || undefined,
    mfaType: more.mfaType,
    target,
    provider: more.provider,
    element,
    option: undefined,
  }
}
