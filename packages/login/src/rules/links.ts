// Finds links to the login page, and whether the page has a log-out link.
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import {
  denyWords,
  forgotWords,
  harmfulWords,
  logOutWords,
  perhapsLoginWords,
  signInWords,
  signUpWords,
} from '../words/actions.ts'
import { fold } from '../words/match.ts'
import { providerIn } from '../words/providers.ts'
import { caption, isClickable } from './element-words.ts'
import type { Scene } from './reading.ts'

const LOGIN_PATH =
  /\/(log-?in|sign-?in|signin|logon|auth|session|sessions\/new|users\/sign_in|account\/login|wp-login|sso)(\/|\.|\?|$)/i
const LOGOUT_PATH = /log-?out|sign-?out|log-?off|sign_out/i
const MAX_CAPTION_LENGTH = 45

export function loginLinksOf(scenes: readonly Scene[]): ElementSnapshot[] {
  const ranked = scenes.flatMap(({ elements }) =>
    elements.flatMap((element) => {
      if (!element.is_visible || !isClickable(element)) return []
      const rank = rankOf(element)
      return rank > 0 ? [{ element, rank }] : []
    }),
  )
  return ranked.toSorted((one, other) => other.rank - one.rank).map(({ element }) => element)
}

function rankOf(element: ElementSnapshot): number {
  const said = caption(element)
  const says = fold(said)
  if (says.length > MAX_CAPTION_LENGTH || LOGOUT_PATH.test(element.href)) return 0
  if (logOutWords.in(says) || forgotWords.in(says) || harmfulWords.in(says)) return 0
  if (signUpWords.in(says) && !signInWords.in(says)) return 0
  const path = URL.parse(element.href)?.pathname ?? ''
  const isSaid = signInWords.in(says)
  const isLed = LOGIN_PATH.test(path)
  const isPerhaps = perhapsLoginWords.in(says)
  if (!isSaid && !isLed && !isPerhaps) return 0
  let rank = isSaid ? 100 : isLed ? 60 : 20
  if (isSaid && isLed) rank += 20
  if (element.region === 'header' || element.region === 'nav') rank += 15
  if (element.region === 'footer') rank -= 10
  if (providerIn(said)) rank -= 60
  return Math.max(1, rank - says.length / 3)
}

export function hasLogOut(scenes: readonly Scene[]): boolean {
  return scenes.some(({ elements }) =>
    elements.some((element) => {
      if (!isClickable(element) || !element.is_visible) return false
      const says = fold(caption(element))
      // A button that declines may also say `log out`.
      if (denyWords.in(says)) return false
      return (
        (says.length < 60 && logOutWords.in(says)) ||
        LOGOUT_PATH.test(URL.parse(element.href)?.pathname ?? '')
      )
    }),
  )
}
